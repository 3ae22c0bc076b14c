"""Python source divided into keywords, strings, numbers and comments, to be told apart by eye."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ROLES = {
    tokenize.COMMENT: "comment",
    tokenize.STRING: "string",
    tokenize.NUMBER: "literal",
}
# f-strings are tokens of their own from Python 3.12 on.
_ROLES |= {
    kind: "string"
    for label in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
    if (kind := getattr(tokenize, label, None)) is not None
}


@dataclass(frozen=True)
class SourceToken:
    """Characters of one line, from `start` up to `end`, that play a role."""

    start: int
    end: int
    role: str


def tokens_by_line(lines: Sequence[str]) -> dict[int, list[SourceToken]]:
    """The tokens of every line, numbered from 1. What is not Python is cut off where it stops being that."""
    found: dict[int, list[SourceToken]] = {}
    for token in _tokens(lines):
        role = _ROLES.get(token.type, "")
        if token.type == tokenize.NAME and keyword.iskeyword(token.string):
            role = "keyword"
        if not role:
            continue
        (first, start), (last, end) = token.start, token.end
        for number in range(first, last + 1):
            begin = start if number == first else 0
            stop = end if number == last else len(lines[number - 1])
            if stop > begin:
                found.setdefault(number, []).append(SourceToken(begin, stop, role))
    return found


def _tokens(lines: Sequence[str]) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline)
    except (tokenize.TokenError, SyntaxError, ValueError):
        # A source may be anything, also of another language or cut short. It is then shown without roles.
        return

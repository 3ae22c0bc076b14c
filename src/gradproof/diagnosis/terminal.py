"""Text on a terminal: its width in columns, its lines, and nothing hidden in it. Imports nothing that takes time."""

from __future__ import annotations

import re
import unicodedata


def wrap(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """A paragraph as lines; `first` begins the first, `rest` (blanks of the same length) the others.

    Widths are those of a terminal, which `textwrap` does not know: it counts characters. A word that is longer
    than a line is not broken.
    """
    rest = " " * columns(first) if rest is None else rest
    lines, line, gap, is_empty = [], first, "", True
    for part in re.findall(r"\s+|\S+", printable(text)):
        if part.isspace():
            gap = part
        elif is_empty or columns(line) + columns(gap) + columns(part) <= width:
            line, gap, is_empty = line + gap + part, "", False
        else:
            lines.append(line)
            line, gap = rest + part, ""
    return [*lines, line if not is_empty else first.rstrip()]


def columns(text: str) -> int:
    """The columns of a terminal that the text takes: East Asian wide characters two, marks none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def printable(text: str) -> str:
    """The text on one line without control characters: names and source come from outside."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_printable_character(character) for character in text)


# The marks of reading order: with them a line can show something else than it says.
_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _printable_character(character: str) -> str:
    if character in "\t\n\r":
        return " "
    hidden = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTION_MARKS
    return "\N{REPLACEMENT CHARACTER}" if hidden else character

"""A cause: its name, its detector, and the documentation that `gradproof explain` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.occasion import Occasion
from gradproof.errors import InvalidInput

HEADINGS = ("What it finds", "Why it spoils a gradient", "Example", "Write instead", "Stays silent when")


@dataclass(frozen=True)
class CauseDoc:
    """The parts of a cause's docstring, the text of every heading without its indentation."""

    title: str
    finds: str
    spoils: str
    example: str
    instead: str
    silent: str

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Pairs of heading and text in the order in which they are written."""
        return tuple(zip(HEADINGS, (self.finds, self.spoils, self.example, self.instead, self.silent)))


@dataclass(frozen=True)
class Cause:
    """One kind of fault. `find` is pure: it reads a finished case and yields what it found there.

    It is asked only where a case shows one of the occasions in `on`.
    """

    name: str
    find: Callable[[Any], Iterable[Diagnostic]]
    doc: str
    on: tuple[Occasion, ...] = (Occasion.ALWAYS,)

    @property
    def documentation(self) -> CauseDoc:
        return parse_doc(self.doc, self.name)


def parse_doc(doc: str, name: str) -> CauseDoc:
    """The parts of a docstring; a missing heading, one too many, or an empty one is refused by name."""
    first, _, rest = doc.strip("\n").partition("\n")
    if not first.strip():
        raise InvalidInput(f"the docstring of cause `{name}` has no first line")
    texts: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in textwrap.dedent(rest).splitlines():
        if line.strip() and not line[0].isspace():
            lines = texts.setdefault(line.strip(), [])
        elif lines is not None:
            lines.append(line)
    if tuple(texts) != HEADINGS:
        raise InvalidInput(
            f"the docstring of cause `{name}` must have the headings {', '.join(HEADINGS)}, in this order; "
            f"it has {', '.join(texts) or 'none'}"
        )
    sections = {heading: textwrap.dedent("\n".join(body)).strip("\n") for heading, body in texts.items()}
    for heading, text in sections.items():
        if not text.strip():
            raise InvalidInput(f"the docstring of cause `{name}` says nothing under the heading `{heading}`")
    return CauseDoc(first.strip(), *(sections[heading] for heading in HEADINGS))

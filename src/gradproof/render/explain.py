"""The long explanation of a cause, and the list of all causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.words import wrap
from gradproof.render.diagnostic_text import PROSE_WIDTH
from gradproof.render.line import Line, Piece, coloured, line, plain

_CODE = ("Example", "Write instead")


def explain(cause: Cause, *, width: int = PROSE_WIDTH, colour: bool = False) -> str:
    """Everything the documentation of a cause says; code as it is written, prose wrapped."""
    lines = list(_explanation(cause, min(width, PROSE_WIDTH)))
    return coloured(lines) if colour else plain(lines)


def list_causes(causes: Iterable[Cause], *, width: int = PROSE_WIDTH, colour: bool = False) -> str:
    """Every cause by name with its first line, and how to read more."""
    ordered = sorted(causes, key=lambda cause: cause.name)
    column = max((len(cause.name) for cause in ordered), default=0) + 2
    lines: list[Line] = []
    for cause in ordered:
        first, *others = wrap(cause.documentation.title, width, " " * column)
        lines.append(line(Piece(cause.name.ljust(column), "strong"), first[column:]))
        lines += [line(text) for text in others]
    lines += [(), line("gradproof explain CAUSE prints the long explanation of one of them")]
    return coloured(lines) if colour else plain(lines)


def _explanation(cause: Cause, width: int) -> Iterator[Line]:
    documentation = cause.documentation
    first, *others = wrap(f"{cause.name}: {documentation.title}", width, rest="  ")
    yield line(Piece(cause.name, "strong"), first.removeprefix(cause.name))
    yield from (line(text) for text in others)
    for heading, text in documentation.sections:
        yield ()
        yield line(Piece(heading, "strong"))
        for paragraph in text.split("\n") if heading in _CODE else _paragraphs(text):
            if heading in _CODE:
                yield line(f"    {paragraph}")
            else:
                yield from (line(part) for part in wrap(paragraph, width, "    "))


def _paragraphs(text: str) -> Iterator[str]:
    """Prose is written in lines of any length; a blank line ends a paragraph."""
    for k, paragraph in enumerate(text.split("\n\n")):
        if k:
            yield ""
        yield " ".join(paragraph.split())

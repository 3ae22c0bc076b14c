"""The long explanation of a cause or a symptom, and the list of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.terminal import wrap
from gradproof.render.line import PROSE_WIDTH, Line, Piece, coloured, line, plain
from gradproof.render.symptoms import Symptom

_CODE = ("Example", "Write instead")


def explain(
    cause: Cause, fixes: Sequence[tuple[str, str]] = (), *, width: int = PROSE_WIDTH, colour: bool = False
) -> str:
    """Everything the documentation of a cause says; code as it is written, prose wrapped. Then what `--fix` tries."""
    width = min(width, PROSE_WIDTH)
    lines = list(_explanation(cause, width))
    if fixes:
        lines += [(), line(Piece("What --fix tries", "strong")), *_rows(list(fixes), width, "    ")]
    return coloured(lines) if colour else plain(lines)


def list_causes(causes: Iterable[Cause], *, width: int = PROSE_WIDTH, colour: bool = False) -> str:
    """Every cause by name with its first line, and how to read more."""
    pairs = sorted((cause.name, cause.documentation.title) for cause in causes)
    lines = list(_rows(pairs, width, ""))
    lines += [(), line("gradproof explain CAUSE prints the long explanation of one of them")]
    return coloured(lines) if colour else plain(lines)


def explain_symptom(
    symptom: Symptom, causes: Iterable[Cause], *, width: int = PROSE_WIDTH, colour: bool = False
) -> str:
    """What to make of a symptom: what it means, the causes it may come from, and how to find out which."""
    width = min(width, PROSE_WIDTH)
    lines: list[Line] = [line(Piece(symptom.name, "strong"), f": {symptom.title}"), ()]
    lines += [line(text) for paragraph in symptom.paragraphs for text in (*wrap(paragraph, width), "")]
    if symptom.causes:
        lines.append(line(Piece("It may come from", "strong")))
        lines += list(_rows([(cause.name, cause.documentation.title) for cause in causes], width, "    "))
        lines += [(), line("gradproof explain CAUSE says more about one of them")]
    else:
        lines.pop()
    return coloured(lines) if colour else plain(lines)


def list_symptoms(symptoms: Iterable[Symptom], *, width: int = PROSE_WIDTH, colour: bool = False) -> str:
    """Every symptom by name with what it is."""
    lines = [line(Piece("symptoms", "strong"))]
    lines += _rows([(symptom.name, symptom.title) for symptom in symptoms], width, "")
    lines += [(), line(Piece("causes", "strong"))]
    return coloured(lines) if colour else plain(lines)


def _rows(pairs: list[tuple[str, str]], width: int, indent: str) -> Iterator[Line]:
    """Names in a column, what they are beside them."""
    column = max((len(name) for name, _ in pairs), default=0) + 2
    for name, text in pairs:
        first, *others = wrap(text, width, indent + " " * column)
        yield line(indent, Piece(name.ljust(column), "strong"), first[len(indent) + column :])
        yield from (line(other) for other in others)


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

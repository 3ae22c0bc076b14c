"""One diagnostic as text: headline, source, evidence, why, fix, checked, more, in this order."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from gradproof.diagnosis.diagnostic import CRASH, Diagnostic, Fix
from gradproof.diagnosis.words import printable, wrap
from gradproof.render.line import PROSE_WIDTH, Line, Piece, line
from gradproof.render.snippet import snippet

MOST_OTHERS = 2  # ways to mend a fault that are named beside the best
MOST_SUBJECT = 32  # a longer subject does not push the values of the evidence to the right

_BLANK: Line = ()
_PATCH_INDENT = " " * 5


def diagnostic_lines(diagnostic: Diagnostic, sources: Mapping[str, str], width: int) -> Iterator[Line]:
    """The whole message; parts that would be empty are left out."""
    yield from _headline(diagnostic, width)
    yield from snippet(diagnostic, sources, width)
    yield from _evidence(diagnostic, width)
    for part in _parts(diagnostic, min(width, PROSE_WIDTH)):
        yield _BLANK
        yield from part
    if diagnostic.kind != CRASH:  # what ended one program has no page of its own
        yield _BLANK
        yield line(Piece("  more:", "strong"), f" gradproof explain {printable(diagnostic.kind)}")


def concise_line(diagnostic: Diagnostic) -> str:
    """`file:line:column: level[cause]: headline`, as editors read it."""
    place = "" if diagnostic.span is None else f"{diagnostic.span}: "
    return printable(f"{place}{diagnostic.severity}[{diagnostic.kind}]: {diagnostic.headline}")


def patch_lines(patch: str) -> list[str]:
    """The lines of a diff as they are shown: a sign, a blank, and the code without common indentation."""
    lines = patch.expandtabs(4).rstrip("\n").split("\n")
    shown: list[tuple[str, str]] = []
    for previous, text, following in zip(["", *lines], lines, [*lines[1:], ""]):
        heads = (text, following), (previous, text)
        if any(old.startswith("--- ") and new.startswith("+++ ") for old, new in heads):
            continue  # the names of the file; the place stands above the patch
        if text.startswith("@@"):
            shown += [("", "...")] if shown else []
        elif not text.startswith("\\"):  # a remark about the end of the file is no line of it
            shown.append((text[:1] or " ", text[1:]))
    code = textwrap.dedent("\n".join(body for sign, body in shown if sign)).split("\n")
    bodies = iter(code)
    return [f"{sign} {next(bodies)}".rstrip() if sign else body for sign, body in shown]


def _headline(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    level = f"{diagnostic.severity}[{printable(diagnostic.kind)}]"
    first, *others = wrap(f"{level}: {diagnostic.headline}", width, rest="  ")
    yield line(Piece(level, diagnostic.severity), Piece(first.removeprefix(level), "strong"))
    for text in others:
        yield line(Piece(text, "strong"))


def _evidence(diagnostic: Diagnostic, width: int) -> Iterator[Line]:
    """The subject, then rows whose values begin in one column, to the right of the subject."""
    subject = printable(diagnostic.subject)
    if subject:
        for text in wrap(subject, width, "  "):
            yield line("  ", Piece(text[2:], "strong"))
    if not diagnostic.evidence:
        return
    column = max(len(printable(label)) for label, _ in diagnostic.evidence) + 2
    if len(subject) <= min(MOST_SUBJECT, width // 3):
        column = max(column, len(subject))
    for label, value in diagnostic.evidence:
        yield from _lines(wrap(value, width, "    " + printable(label).ljust(column)))


def _parts(diagnostic: Diagnostic, width: int) -> Iterator[Iterator[Line]]:
    if diagnostic.why:
        yield _paragraph("why", diagnostic.why, width)
    if diagnostic.fix is not None:
        yield from _fix_parts(diagnostic.fix, width)
    for note in diagnostic.notes:
        yield _paragraph("note", note, width)


def _fix_parts(fix: Fix, width: int) -> Iterator[Iterator[Line]]:
    yield _paragraph("fix", fix.text, width)
    if fix.patch:
        yield (_patch_line(text) for text in patch_lines(fix.patch))
    if fix.changes_meaning:
        yield _paragraph("changes", fix.changes_meaning, width)
    if fix.checked:
        yield _paragraph("checked", fix.checked, width)
    else:
        yield _paragraph("not checked", "the program with this change was not run", width)
    texts = dict.fromkeys(one.text for one in fix.others if one.checked and one.text != fix.text)
    if others := list(texts)[:MOST_OTHERS]:
        yield _paragraph("or", "; or ".join(others), width)


def _patch_line(text: str) -> Line:
    role = {"-": "removed", "+": "added"}.get(text[:1], "")
    # Code is never wrapped: a broken line could not be copied.
    return line(_PATCH_INDENT, Piece(printable(text), role))


def _paragraph(label: str, text: str, width: int) -> Iterator[Line]:
    first, *others = wrap(text, width, f"  {label}: ") or [f"  {label}:"]
    yield line("  ", Piece(f"{label}:", "strong"), first[len(label) + 3 :])
    yield from _lines(others)


def _lines(texts: list[str]) -> Iterator[Line]:
    return (line(text) for text in texts)

"""What a changed script still gets wrong, mended in it: one change of all lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.judge.verdict import Verdict
from gradproof.render.snippet import source_lines
from gradproof.render.to_diff import applicable, held, patched_texts


def mended_further(
    first: Report, told: Report, again: Report, faults: Iterable[GradientReport], file: str
) -> Report | None:
    """What the changed script still gets wrong, mended in it: one change of all lines, told at the first fault.

    None where it has no such change, or gets as much wrong as before.
    """
    kinds = {one.kind for one in _told_of(first)}
    known = {(one.kind, one.headline) for one in _told_of(first)}
    is_written, tried = held(again), "; ".join(one.fix.text for one in _patched(told) if one.fix is not None)
    new = [
        fix
        for gradient in faults
        for one in gradient.diagnostics
        # A way may be cut in several places, and meet an infinite slope in another line, or part of a line, that is
        # as it was; digits that are lost again elsewhere ask for another change.
        if (fix := applicable(one.fix)) is not None and is_written(one)
        if (
            (gradient.verdict is Verdict.MISSING or (one.kind not in kinds and fix.text not in tried))
            and (one.kind, one.headline) not in known
        )
        or (_has_nan(gradient) and _is_another_place(first, file, again, one))
    ]
    text = patched_texts(again).get(file) if new else None
    if text is None:
        return None
    before = first.sources[file].splitlines(keepends=True)
    patch = "".join(difflib.unified_diff(before, text.splitlines(keepends=True), file, file, n=0))
    fixes = [*(one.fix for one in _patched(told) if one.fix is not None), *new]
    words = "; then ".join(dict.fromkeys(one.text for one in fixes))
    meanings = filter(None, dict.fromkeys(one.changes_meaning for one in fixes))
    whole = Fix(words, patch, "", "; ".join(meanings))
    place = next(_patched(told), None)
    return None if place is None else _only(told, place, whole)


def _has_nan(gradient: GradientReport) -> bool:
    return gradient.observed is not None and not np.isfinite(gradient.observed).all()


def _told_of(report: Report) -> list[Diagnostic]:
    return [one for gradient in report.gradients for one in gradient.diagnostics]


def _is_another_place(first: Report, file: str, report: Report, one: Diagnostic) -> bool:
    """Whether a line that nothing was told of, or a part of one that no error was told of, is at fault as it was."""
    line, part, told = _line(report, one), _part(report, one), _told_of(first)
    lines = {each.strip() for each in first.sources[file].splitlines()}
    if line in lines and line not in {_line(first, each) for each in told}:
        return True
    errors = (each for each in told if each.severity == "error")
    return bool(part) and part in first.sources[file] and part not in {_part(first, each) for each in errors}


def _line(report: Report, one: Diagnostic) -> str:
    """The line that is at fault, which may stand at another place in a changed script."""
    return _text(report, one).strip()


def _part(report: Report, one: Diagnostic) -> str:
    """What is at fault of its line; empty for what goes over several."""
    if one.span is None or one.span.last_line != one.span.line or one.span.column is None:
        return ""
    return _text(report, one).encode()[one.span.column : one.span.end_column].decode()


def _text(report: Report, one: Diagnostic) -> str:
    lines = [] if one.span is None else source_lines(one.span.file, report.sources)
    return lines[one.span.line - 1] if one.span is not None and lines else ""


def _patched(report: Report) -> Iterator[Diagnostic]:
    for gradient in report.gradients:
        for one in gradient.diagnostics:
            if one.fix is not None and one.fix.patch and not gradient.intended:
                yield one


def _only(report: Report, place: Diagnostic, whole: Fix) -> Report:
    def changed(one: Diagnostic) -> Diagnostic:
        if one is place:
            return replace(one, fix=whole)
        return one if one.fix is None else replace(one, fix=replace(one.fix, patch="", checked=""))

    gradients = [replace(one, diagnostics=tuple(map(changed, one.diagnostics))) for one in report.gradients]
    return replace(report, gradients=tuple(gradients))

"""A report with the names of files that a reader knows: paths from the folder of the start, numbers of cells."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

from gradproof.audit.cells import cell_name
from gradproof.diagnosis.figures import Figures, ProgramView
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.ir.span import Span


def relative_to(report: Report, folder: str) -> Report:
    """Files below the folder are named from there, cells of a notebook by number; all others keep their names."""
    prefix = os.path.join(folder, "")

    def rename(file: str) -> str:
        return cell_name(file) or file.removeprefix(prefix)

    def told(note: str) -> str:
        for file in report.sources:
            note = note.replace(file, rename(file))
        return note

    gradients = _Gradients(rename)
    return dataclasses.replace(
        report,
        gradients=tuple(gradients.renamed(gradient) for gradient in report.gradients),
        unchecked=_in(report.unchecked, rename),
        script=_in(report.script, rename),
        notes=tuple(map(told, report.notes)),
        sources={rename(file): text for file, text in report.sources.items()},
    )


class _Gradients:
    """Renames in gradients, and in their pictures when they are drawn; a program they share stays shared."""

    def __init__(self, rename: Callable[[str], str]) -> None:
        self._rename = rename
        self._programs: dict[ProgramView, ProgramView] = {}

    def renamed(self, gradient: GradientReport) -> GradientReport:
        drawing = gradient.drawing
        # What the pictures will be drawn from stays as it is.
        moved: GradientReport = _in(dataclasses.replace(gradient, drawing=None), self._rename)
        if drawing is None:
            return moved
        return dataclasses.replace(moved, drawing=lambda: self._figures(drawing()))

    def _figures(self, figures: Figures) -> Figures:
        program = figures.program
        if program is not None and program not in self._programs:
            self._programs[program] = _in(program, self._rename)
        moved: Figures = _in(dataclasses.replace(figures, program=None), self._rename)
        return dataclasses.replace(moved, program=None if program is None else self._programs[program])


def _in(value: Any, rename: Callable[[str], str]) -> Any:
    """The same structure with every place renamed; what holds no places is shared, not copied."""
    if isinstance(value, Span):
        return value.in_file(rename(value.file))
    if isinstance(value, tuple):
        return tuple(_in(item, rename) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for field in dataclasses.fields(value):
            before = getattr(value, field.name)
            after = (
                _in(before, rename)
                if isinstance(before, tuple) or dataclasses.is_dataclass(before)
                else before
            )
            if after is not before:
                changed[field.name] = after
        return dataclasses.replace(value, **changed)
    return value

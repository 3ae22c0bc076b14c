"""A report with the paths a reader knows: relative to the folder where gradproof was started."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

from gradproof.diagnosis.report import Report
from gradproof.ir.span import Span


def relative_to(report: Report, folder: str) -> Report:
    """Files below the folder are named from there; all others keep their names."""
    prefix = os.path.join(folder, "")

    def rename(file: str) -> str:
        return file.removeprefix(prefix)

    return dataclasses.replace(
        report,
        gradients=_in(report.gradients, rename),
        unchecked=_in(report.unchecked, rename),
        script=_in(report.script, rename),
        sources={rename(file): text for file, text in report.sources.items()},
    )


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

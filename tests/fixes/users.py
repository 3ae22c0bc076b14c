"""Programs of users with a fault, as sources: run on the tape, and what their fix is to look like."""

from __future__ import annotations

import linecache
from typing import Any

import gradproof
from gradproof.diagnosis.report import Report


def checked(source: str, *args: Any, name: str = "<user>") -> Report:
    """The report on the function `f` that a source defines, as if it had been read from a file."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    return gradproof.check(namespace["f"], *args)


def changed_lines(report: Report) -> list[str]:
    """The lines that the first fix with a patch takes away and adds."""
    fixes = [d.fix for gradient in report.gradients for d in gradient.diagnostics if d.fix is not None]
    patch = next((fix.patch for fix in fixes if fix.patch), "")
    return [
        line[0] + line[1:].strip()
        for line in patch.splitlines()
        if line[:1] in ("-", "+") and line[:3] not in ("---", "+++")
    ]

"""What whoever looks into a mistake of ours needs of a saved report: everything but the user's own data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import number, shape_text

_QUOTED = re.compile("`[^`]*`")  # names and code of the user's
MOST_GRADIENTS, MOST_NODES = 20, 200  # more would not be read in an issue


def anonymous_lines(report: Report) -> Iterator[str]:
    """Versions, verdicts, causes and programs: no numbers, names, paths or source lines of the user's."""
    tools = {"gradproof": report.version, **report.frameworks}
    yield f"report made by {', '.join(f'{name} {version}' for name, version in tools.items())}"
    if report.script is not None and report.script.exception:
        yield f"the script ended with {report.script.exception.partition(':')[0]}"
    yield from (f"note: {_QUOTED.sub('`...`', note)}" for note in report.notes)
    files: dict[str, str] = {}
    programs: dict[Any, int] = {}
    for k, gradient in enumerate(report.gradients[:MOST_GRADIENTS], 1):
        yield from _gradient(k, gradient, files, programs)
    if len(report.gradients) > MOST_GRADIENTS:
        yield f"and {len(report.gradients) - MOST_GRADIENTS:,} more gradients"
    for program, k in programs.items():
        yield from _program(k, program)


def _gradient(
    k: int, gradient: GradientReport, files: dict[str, str], programs: dict[Any, int]
) -> Iterator[str]:
    """The line numbers stay: whoever has the script finds the place, and nobody else learns anything."""
    place = f"{_file(gradient.call.file, files)}:{gradient.call.line}"
    yield ""
    yield (
        f"gradient {k}: {gradient.framework}, {gradient.dtype} {shape_text(gradient.shape)}, order "
        f"{gradient.order}, execution {gradient.occurrence}, at {place}"
    )
    yield f"  verdict {gradient.verdict}, oracle {gradient.oracle or 'none'}"
    if gradient.reason:
        yield f"  reason: {_QUOTED.sub('`...`', gradient.reason)}"
    if gradient.relative_error is not None:
        yield f"  relative error {number(gradient.relative_error)}"
    for diagnostic in gradient.diagnostics:
        at = (
            ""
            if diagnostic.span is None
            else f" at {_file(diagnostic.span.file, files)}:{diagnostic.span.line}"
        )
        yield f"  {diagnostic.severity}[{diagnostic.kind}], {diagnostic.certainty}{at}, op {diagnostic.op}"
    program = None if gradient.figures is None else gradient.figures.program
    if program is not None:
        yield f"  program {programs.setdefault(program, len(programs) + 1)}"


def _file(path: str, files: dict[str, str]) -> str:
    return files.setdefault(path, f"file {len(files) + 1}")


def _program(k: int, program: Any) -> Iterator[str]:
    yield ""
    yield f"program {k}, {len(program.nodes):,} nodes"
    for node in program.nodes[:MOST_NODES]:
        inputs = ", ".join(f"%{id}" for id in node.inputs)
        yield f"  %{node.id} = {node.op}({inputs}) : {node.dtype} {shape_text(node.shape)}"
    if len(program.nodes) > MOST_NODES:
        yield f"  and {len(program.nodes) - MOST_NODES:,} more"

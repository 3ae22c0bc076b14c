"""Captures of a function that was called for a check: under its own names, row by row where it has many results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.assemble.view import HEARD
from gradproof.frontends.record.model import GradientCall
from gradproof.ir.capture import Alike, Capture, Rows
from gradproof.ir.program import Program
from gradproof.ir.types import Array


def named(call: GradientCall, names: Sequence[str]) -> GradientCall:
    """The call with the function's own names."""
    return replace(call, sources=tuple(replace(old, name=name) for old, name in zip(call.sources, names)))


def of_target(capture: Capture, target: str) -> Capture:
    return replace(capture, target=target, run=replace(capture.run, occurrence=1))


def as_heard(call: GradientCall) -> Capture:
    """A row has all sources in one capture: those that are missing must not decide what the others are judged by."""
    return to_capture(call, HEARD if any(seen is not None for seen in call.observed) else None)


def alike(
    first: Capture, numbers: Sequence[Array | None], shape: tuple[int, ...], each: Callable[[], Capture]
) -> Capture:
    """A Jacobian of which the first row was captured, as that of a weighted target, and of the others their numbers.

    `each` captures every row: at once where the first does not speak for them, later where one has to be looked at.
    """
    target = _weighted(first.program)
    sources = list(zip(first.sources, numbers))
    if target is None or any(one.observed is None or rows is None for one, rows in sources):
        return each()

    def captures() -> tuple[Capture, ...]:
        rows = each().rows
        assert rows is not None
        return rows.captures

    observed = tuple(
        replace(one, observed=np.reshape(rows, (*shape, *one.shape)), recorded=None)
        for one, rows in sources
        if rows is not None
    )
    rows = Rows((first,), shape, Alike(target, captures))
    return replace(first, sources=observed, program=None, gradient_program=None, rows=rows)


def _weighted(program: Program | None) -> int | None:
    """The node whose entries, times constant weights, a program sums up."""
    if program is None or program[program.outputs[0]].op != "sum":
        return None
    terms = program[program[program.outputs[0]].inputs[0]]
    if terms.op != "mul" or program[terms.inputs[1]].op != "constant":
        return None
    return terms.inputs[0]


def whole(rows: Sequence[Capture], name: str, shape: tuple[int, ...]) -> Capture:
    """A Jacobian made of its rows."""
    sources = []
    for k, source in enumerate(rows[0].sources):
        parts = [row.sources[k].observed for row in rows]
        known = [part for part in parts if part is not None]
        observed = np.stack(known).reshape(*shape, *source.shape) if len(known) == len(parts) else None
        sources.append(replace(source, observed=observed, recorded=None))
    return replace(
        rows[0],
        target=name,
        sources=tuple(sources),
        program=None,
        gradient_program=None,
        rows=Rows(tuple(rows), shape),
    )

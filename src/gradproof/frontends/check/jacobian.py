"""Captures of a function that was called for a check: under its own names, row by row where it has many results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.assemble.program import HEARD
from gradproof.frontends.record.model import GradientCall
from gradproof.ir.capture import Capture, Rows


def named(call: GradientCall, names: Sequence[str]) -> GradientCall:
    """The call with the function's own names."""
    return replace(call, sources=tuple(replace(old, name=name) for old, name in zip(call.sources, names)))


def of_target(capture: Capture, target: str) -> Capture:
    return replace(capture, target=target, run=replace(capture.run, occurrence=1))


def as_heard(call: GradientCall) -> Capture:
    """A row has all sources in one capture: those that are missing must not decide what the others are judged by."""
    return to_capture(call, HEARD if any(seen is not None for seen in call.observed) else None)


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

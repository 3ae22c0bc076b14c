"""Runs a program in a mode, and measures what it returned: digits against the proof, ulps against another run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradproof.engine.refine import Enclosure
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.verdict import Verdict
from gradproof.modes.feed import Feed, feed
from gradproof.modes.model import Mode, NotRun
from gradproof.modes.units import wide
from gradproof.options import Options

MOST_NODES = 200  # for the pictures of a report: compiling takes about a millisecond for every op

_VERDICTS = {
    "within": Verdict.CORRECT,
    "beyond": Verdict.INACCURATE,
    "nonfinite": Verdict.NONFINITE,
    "undecided": Verdict.UNVERIFIED,
    "unbounded": Verdict.UNVERIFIED,
}


Returned = tuple[Array, list[Array | None]]  # the target, and its gradients


def gradient_alone(mode: Mode, program: Program, wrt: int) -> Array | None:
    """One gradient in one mode; None where the mode cannot run the program."""
    if len(program.nodes) > MOST_NODES:
        return None
    try:
        return gradients_in(mode, program, [wrt])[1][0]
    except NotRun:
        return None


def gradients_in(mode: Mode, program: Program, wrt: Sequence[int]) -> Returned:
    """The target and its gradients, by the framework's own differentiation."""
    return gradients_of(mode, asked_of(program, wrt), wrt)


def asked_of(program: Program, wrt: Sequence[int]) -> Feed:
    """The program with what is differentiated for among its arguments."""
    inputs = tuple(dict.fromkeys((*program.inputs, *wrt)))
    return feed(Program(program.nodes, inputs, program.outputs, program.names), program.outputs)


def gradients_of(mode: Mode, fed: Feed, wrt: Sequence[int]) -> Returned:
    (target,) = fed.program.outputs
    for id in wrt:
        if id not in fed.given:
            raise NotRun("the target does not depend on what is differentiated for")
    return mode.gradient(fed, target, wrt)


def returns_again(run: Callable[[], Returned], before: Returned) -> bool | None:
    """Whether another run returns the same bits; None where there is no such run."""
    try:
        value, gradients = run()
    except NotRun:
        return None
    pairs = zip((before[0], *before[1]), (value, *gradients))
    return all(same_bits(one, two) for one, two in pairs if one is not None and two is not None)


def measured(
    gradient: Array | None, true: Enclosure | None, dtype: str, sizes: Array | None, options: Options
) -> tuple[Verdict, Comparison | None]:
    """The verdict on one gradient, beyond the tolerance being `inaccurate` until more precision was tried."""
    if gradient is None:
        return Verdict.MISSING, None
    if true is None or gradient.shape != true.mid.shape:
        return Verdict.UNVERIFIED, None
    found = compare(wide(gradient), true, dtype, options, sizes)
    return _VERDICTS[found.outcome], found


def gap_in_ulps(one: Array | None, other: Array | None) -> float | None:
    """The largest distance between two arrays, in units in the last place of the coarser of their dtypes."""
    if one is None or other is None or one.shape != other.shape:
        return None
    if one.size == 0:
        return 0.0
    a, b = wide(one), wide(other)
    bits = min(types.precision_bits(types.dtype_name(array)) for array in (one, other))
    least = max(types.SMALLEST[types.dtype_name(array)] for array in (one, other))
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(a), np.abs(b))
        unit = np.maximum(np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))) - (bits - 1)), least)
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b) / unit)
    return float(np.max(np.where(np.isnan(gap), np.inf, gap)))


def same_bits(one: Any, other: Any) -> bool:
    """Equal numbers, NaN where NaN was; the sign of a zero does not count."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    a, b = wide(one), wide(other)
    return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b))))

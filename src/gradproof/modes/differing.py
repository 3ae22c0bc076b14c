"""An op whose results differ in two runs, and how far each lies from the exact value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradproof.diagnosis import words
from gradproof.engine.allowance import share, smallest
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.modes.op_seen import ExactResult, exact_result
from gradproof.modes.units import unit, wide

HALF = (
    0.505  # ulp: what is rounded once is no farther from the exact value; a little more, for ties and bounds
)
OP_BY_OP = "op by op"
PRODUCTS = frozenset({"matmul", "einsum", "convolution", "convolution_transposed", "convolution_kernel"})
SUMS = PRODUCTS | {"sum", "mean", "sum_to", "cumsum", "average_pool", "scatter_add", "logsumexp"}


@dataclass(frozen=True, eq=False)
class Differing:
    """An op whose results differ: `single` op by op, `other` in the mode whose values `program` has."""

    program: Program
    node: Node
    single: Array
    other: Array
    inputs: list[Array]
    exact: ExactResult | None
    index: tuple[int, ...]  # the entry where they differ most
    exact_single: ExactResult | None = None  # for the inputs that the other run had
    is_shared: bool = True  # whether these are the same
    beside: str = OP_BY_OP  # where the single one ran

    @property
    def is_compiled(self) -> bool:
        """Whether the mode saw more than one op at a time, as far as is known."""
        return self.beside == OP_BY_OP


def is_rounding(seen: Differing) -> bool:
    """Whether the mode's result is what the op gives on its inputs, up to the roundings that it is entitled to."""
    if seen.exact is None or types.is_discrete(seen.node.dtype):
        return False
    mid, rad = seen.exact.mid, seen.exact.rad
    try:
        room = share(seen.node, seen.inputs)
        least = smallest(seen.node, seen.inputs)
    except (ValueError, KeyError):
        return False
    size = _term_size(seen, np.abs(mid))
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(wide(seen.other) - mid) <= room * size + rad + least))


def _term_size(seen: Differing, size: Array) -> Array:
    """A sum is entitled to roundings of its terms, which may be larger than what is left of them."""
    if seen.node.op not in SUMS or seen.node.op == "logsumexp":
        return size
    whole = exact_result(seen.node, [x if x.dtype.kind in "biu" else np.abs(x) for x in seen.inputs])
    return size if whole is None else np.maximum(size, np.abs(whole.mid))


def ulps_told(seen: Differing) -> str:
    """How far both results lie from the exact one, in units in the last place."""
    if seen.exact is None or not types.is_real(seen.node.dtype):
        return ""
    here = f": {_in_ulps(seen, seen.other, seen.exact)} ulp from the exact value here"
    if seen.exact_single is None:
        return here
    return f"{here}, {_in_ulps(seen, seen.single, seen.exact_single)} {seen.beside}"


def _in_ulps(seen: Differing, value: Array, exact: ExactResult) -> str:
    return words.significant(distance(seen, value, exact), 2).removesuffix(".0")


def is_rounded_once(seen: Differing, value: Array) -> bool:
    """Whether every entry is the exact result to half a unit in its last place; yes where that is not known."""
    if seen.exact is None or not types.is_real(seen.node.dtype):
        return True
    mid = np.asarray(seen.exact.mid, np.float64)
    units = np.vectorize(unit, otypes=[float])(mid, seen.node.dtype)
    return bool(np.all(np.abs(wide(value) - mid) <= HALF * units))


def distance(seen: Differing, value: Array, exact: ExactResult) -> float:
    """How far a result lies from the exact one at the entry, in units in the last place."""
    mid = float(exact.mid[seen.index])
    return abs(float(wide(value)[seen.index]) - mid) / unit(mid, seen.node.dtype)


def differs_at(seen: Differing) -> Array:
    a, b = wide(seen.single), wide(seen.other)
    return np.asarray(~((a == b) | (np.isnan(a) & np.isnan(b))))

"""The first op at which two runs of one program part, and the op that accounts for the gap in the gradient.

Both runs give a value to every node. The first node, in the order of the program, whose value differs had the same
inputs in both runs: there they part. Where many ops round a little otherwise, the first of them need not be the one
that matters. The errors that each run made at each node are known, and pulling them back from the gradient gives every
node's share of the gap: the largest is the decisive one.
"""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.parting import Parting
from gradproof.ir.program import Node, Program, prune
from gradproof.ir.types import Array
from gradproof.modes.differing import OP_BY_OP, Differing
from gradproof.modes.op_seen import ExactResult, exact_result, inputs_shown, number_shown
from gradproof.modes.rows import same_bits
from gradproof.modes.run_errors import Values, run_errors, with_values
from gradproof.modes.units import wide
from gradproof.modes.whose import whose

DECISIVE = 0.5  # the share of the gap from which on one op is said to be what matters

# The node, its share of the gap, and the entry that has most of it.
Decisive = tuple[Node | None, float | None, tuple[int, ...] | None]


def partings(
    program: Program, single: Values, other: Values, output: int, index: tuple[int, ...], beside: str = ""
) -> tuple[Parting, ...]:
    """Where a run parts from the one op by op, seen from one entry of the gradient `output`; none if it does not.

    With `beside`, the name of a framework, both run op by op, and the first is that framework's.
    """
    own = prune(program, [output])
    nodes = [node for node in own.nodes if node.inputs and node.id in single and node.id in other]
    differing = [node for node in nodes if not same_bits(single[node.id], other[node.id])]
    if not differing or same_bits(single[output], other[output]):
        return ()
    first = differing[0]
    pair = TwoRuns(own, single, other, beside)
    decisive, share, entry = _decisive(pair, output, index, differing)
    if decisive is None or decisive.id == first.id:
        return (pair.parting(first, share),)
    return pair.parting(first), pair.parting(decisive, share, entry)


def _decisive(pair: TwoRuns, output: int, index: tuple[int, ...], differing: list[Node]) -> Decisive:
    """The node with the largest share of the gap; where the run is not finite, the first that is not."""
    program, single, other = pair.program, pair.single, pair.other
    broken = [
        n
        for n in differing
        if np.isfinite(wide(single[n.id])).all() and not np.isfinite(wide(other[n.id])).all()
    ]
    if broken:
        return broken[0], None, None
    one, two = (run_errors(program, values, output, index) for values in (single, other))
    gaps = {id: two.shares.get(id, 0.0) - one.shares.get(id, 0.0) for id in {*one.shares, *two.shares}}
    total = sum(gaps.values())
    if not total or not np.isfinite(total):
        return None, None, None
    largest = max(gaps, key=lambda id: abs(gaps[id]))
    share = gaps[largest] / total
    if share < DECISIVE:
        return None, None, None
    node = program[largest]
    parts = two.parts(largest, node.shape) - one.parts(largest, node.shape)
    entry = tuple(int(k) for k in np.unravel_index(int(np.argmax(np.abs(parts))), node.shape))
    if same_bits(single[largest][entry], other[largest][entry]):
        return None, None, None  # both runs lose the same here, of inputs that an op before made differ
    return node, min(share, 1.0), entry


class TwoRuns:
    """Two runs of one program, each with a value for every node."""

    def __init__(self, program: Program, single: Values, other: Values, beside: str) -> None:
        self.program, self.single, self.other, self.beside = program, single, other, beside

    def parting(
        self, node: Node, share: float | None = None, entry: tuple[int, ...] | None = None
    ) -> Parting:
        a, b = np.asarray(self.single[node.id]), np.asarray(self.other[node.id])
        index = _furthest(a, b) if entry is None else entry
        before, inputs = ([self._value(run, id) for id in node.inputs] for run in (self.single, self.other))
        is_shared = all(map(same_bits, before, inputs))
        exact = exact_result(node, inputs)
        exact_before = exact if is_shared else exact_result(node, before)
        seen = Differing(
            with_values(self.program, self.other), node, a, b, inputs, exact, index, exact_before, is_shared,
            f"in {self.beside}" if self.beside else OP_BY_OP,
        )  # fmt: skip
        return Parting(
            node=node.id,
            op=node.op,
            phase=node.phase,
            span=node.span,
            dtype=node.dtype,
            index=index,
            inputs=inputs_shown(node, inputs, index),
            exact="" if exact is None else exact.shown(index),
            single=_returned(a, index, node, None if is_shared else exact_before),
            other=number_shown(b, index, node.dtype),
            whose=whose(seen),
            share=share,
            beside=self.beside,
        )

    def _value(self, run: Values, id: int) -> Array:
        return np.asarray(run.get(id, self.program[id].value))


def _returned(value: Array, index: tuple[int, ...], node: Node, exact: ExactResult | None) -> str:
    """What the run that it is held against returned; on inputs of its own with what is exact for these."""
    text, truth = number_shown(value, index, node.dtype), "" if exact is None else exact.shown(index)
    return f"{text}, of inputs for which {truth} is exact" if truth else text


def _furthest(a: Array, b: Array) -> tuple[int, ...]:
    """The entry where two arrays differ most, by the size of its numbers; one that is not finite comes first."""
    x, y = wide(a), wide(b)
    with np.errstate(all="ignore"):
        gap = np.abs(x - y) / np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(np.float64).tiny)
    gap = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.where(np.isnan(gap), np.inf, gap))
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(gap)), a.shape))

"""The first op at which two runs of one program part, and the op that accounts for the gap in the gradient.

Both runs give a value to every node. The first node, in the order of the program, whose value differs had the same
inputs in both runs: there they part. Where many ops round a little otherwise, the first of them need not be the one
that matters. The errors that each run made at each node are known, and pulling them back from the gradient gives every
node's share of the gap: the largest is the decisive one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Parting
from gradproof.engine.rounding import budget_of, error_adjoints, local_errors
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Node, Program, prune
from gradproof.ir.types import Array
from gradproof.modes.rows import same_bits
from gradproof.modes.whose import Differing, exact_result, whose

DECISIVE = 0.5  # the share of the gap from which on one op is said to be what matters
MOST_INPUTS = 3  # of an op with many inputs the first ones are shown

Values = Mapping[int, Array]


def partings(
    program: Program, single: Values, other: Values, output: int, index: tuple[int, ...]
) -> tuple[Parting, ...]:
    """Where a run parts from the one op by op, seen from one entry of the gradient `output`; none if it does not."""
    own = prune(program, [output])
    nodes = [node for node in own.nodes if node.inputs and node.id in single and node.id in other]
    differing = [node for node in nodes if not same_bits(single[node.id], other[node.id])]
    if not differing or same_bits(single[output], other[output]):
        return ()
    first = differing[0]
    decisive, share = _decisive(own, single, other, output, index, differing)
    if decisive is None or decisive.id == first.id:
        return (_parting(own, first, single, other, share),)
    return _parting(own, first, single, other), _parting(own, decisive, single, other, share)


def _decisive(
    program: Program,
    single: Values,
    other: Values,
    output: int,
    index: tuple[int, ...],
    differing: list[Node],
) -> tuple[Node | None, float | None]:
    """The node with the largest share of the gap; where the run is not finite, the first that is not."""
    broken = [
        n
        for n in differing
        if np.isfinite(_wide(single[n.id])).all() and not np.isfinite(_wide(other[n.id])).all()
    ]
    if broken:
        return broken[0], None
    shares = [_shares(program, values, output, index) for values in (single, other)]
    gaps = {id: shares[1].get(id, 0.0) - shares[0].get(id, 0.0) for id in {*shares[0], *shares[1]}}
    total = sum(gaps.values())
    if not gaps or not total:
        return None, None
    largest = max(gaps, key=lambda id: abs(gaps[id]))
    share = gaps[largest] / total
    return (program[largest], min(share, 1.0)) if share >= DECISIVE else (None, None)


def _shares(program: Program, values: Values, output: int, index: tuple[int, ...]) -> dict[int, float]:
    """Each node's part in the error that one run makes in one entry of the output."""
    ran = with_values(program, values)
    weight = np.zeros(program[output].shape)
    weight[index] = 1.0
    try:
        errors = local_errors(ran)
        return budget_of(errors, error_adjoints(ran, errors, [weight]))
    except (GradproofError, ValueError, TypeError, FloatingPointError, ZeroDivisionError):
        return {}


def with_values(program: Program, values: Values) -> Program:
    """The program as it would have been recorded in that run."""
    nodes = (replace(node, value=values.get(node.id, node.value)) for node in program.nodes)
    return replace(program, nodes=tuple(nodes))


def _parting(
    program: Program, node: Node, single: Values, other: Values, share: float | None = None
) -> Parting:
    a, b = np.asarray(single[node.id]), np.asarray(other[node.id])
    index = _furthest(a, b)
    inputs = [np.asarray(other.get(id, program[id].value)) for id in node.inputs]
    exact = exact_result(node, inputs)
    is_shared = all(same_bits(single[id], other[id]) for id in node.inputs if id in single and id in other)
    seen = Differing(with_values(program, other), node, a, b, inputs, exact, index, is_shared)
    return Parting(
        node=node.id,
        op=node.op,
        phase=node.phase,
        span=node.span,
        dtype=node.dtype,
        index=index,
        inputs=tuple(_shown(x, node.shape, index) for x in inputs[:MOST_INPUTS]),
        exact="" if exact is None else words.number(exact[0][index].item(), float(exact[1][index])),
        single=words.number(a[index].item(), dtype=node.dtype),
        other=words.number(b[index].item(), dtype=node.dtype),
        whose=whose(seen),
        share=share,
    )


def _furthest(a: Array, b: Array) -> tuple[int, ...]:
    """The entry where two arrays differ most, by the size of its numbers; one that is not finite comes first."""
    x, y = _wide(a), _wide(b)
    with np.errstate(all="ignore"):
        gap = np.abs(x - y) / np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(np.float64).tiny)
    gap = np.where(np.isnan(gap), np.where(np.isnan(x) & np.isnan(y), 0.0, np.inf), gap)
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(gap)), a.shape))


def _shown(x: Array, shape: tuple[int, ...], index: tuple[int, ...]) -> str:
    """What one input had at the entry; the whole where the op takes more than one number to it."""
    if x.dtype.kind in "biu":
        return words.array_text(x.astype(np.float64)) if x.ndim == 0 else f"{x.dtype}{list(x.shape)}"
    dtype = types.dtype_name(x)
    if x.shape == shape:
        return words.number(x[index].item(), dtype=dtype)
    if x.size == 1:
        return words.number(x.ravel()[0].item(), dtype=dtype)
    if x.ndim <= 1:
        return words.array_text(x, dtype, 3)
    return f"{words.count(x.size, 'number')} of shape {words.shape_text(x.shape)}"


def _wide(given: Any) -> Array:
    array: Array = np.asarray(given)
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)

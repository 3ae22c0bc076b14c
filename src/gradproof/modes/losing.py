"""From which op on a run is off: the one whose own rounding, as later ops enlarge it, makes the gradient's error."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.parting import DigitsLost, Whose
from gradproof.ir import types
from gradproof.ir.program import Node, Program, prune
from gradproof.ir.types import Array
from gradproof.modes.op_seen import exact_result, inputs_shown, number_shown
from gradproof.modes.run_errors import RunErrors, Values, one_by_one, run_errors
from gradproof.modes.same_computations import same_computations
from gradproof.modes.units import smallest_normal, unit, wide

EXPLAINED = 0.25  # of an error may be left over
ENLARGED = 10.0  # times, relative to the number itself, from which on that is worth telling


def digits_lost(
    program: Program, values: Values, output: int, index: tuple[int, ...], error: complex
) -> DigitsLost | None:
    """Where the run that gave `values` to the nodes loses one entry of the gradient `output`, which is off by `error`.

    None where the errors of its ops do not add up to that: then it is not rounding, or what ran is another program.
    """
    own = prune(program, [output])
    if not np.isfinite(error):
        broken = _first_broken(own, values, output)
        return None if broken is None else _lost(own, broken, values)
    found: RunErrors | None = run_errors(own, values, output, index)
    shares: Mapping[int, float] = {} if found is None else found.shares
    if not _adds_up(shares, error):
        found, shares = None, one_by_one(own, values, output, index)
        if not _adds_up(shares, error):
            return None
    node, share = _largest(own, shares)
    true = complex(np.asarray(values[output])[index]) - error
    relative = abs(shares[node.id] / true) if true else 0.0
    return _lost(own, node, values, share, found, relative)


def _adds_up(shares: Mapping[int, float], error: complex) -> bool:
    total = sum(shares.values())
    return bool(total) and bool(abs(total - error) <= EXPLAINED * abs(error))


def _largest(program: Program, shares: Mapping[int, float]) -> tuple[Node, float]:
    """The op with most of the error, and how much of all errors it has by size: some may cancel.

    What one place of the source does again and again counts as one op; and so does what is computed anew from the same
    numbers, since it is rounded in the same way: `1 / n` in the derivatives of two means.
    """
    places: dict[object, list[int]] = {}
    again = same_computations(program)
    for id in shares:
        node = program[again[id]]
        places.setdefault((node.op, node.phase, node.span) if node.span else node.id, []).append(id)
    sizes = {ids[0]: abs(sum(shares[id] for id in ids)) for ids in places.values()}
    largest = max(places.values(), key=lambda ids: sizes[ids[0]])
    return program[max(largest, key=lambda id: abs(shares[id]))], sizes[largest[0]] / sum(sizes.values())


def _first_broken(program: Program, values: Values, output: int) -> Node | None:
    """Back from a result that is no number to the first op that made none of numbers."""
    node = program[output]
    while True:
        bad = [id for id in node.inputs if id in values and not _is_finite(values[id])]
        if not bad:
            return node if node.inputs and not _is_finite(values[node.id]) else None
        node = program[min(bad)]


def _is_finite(value: Array) -> bool:
    return bool(np.isfinite(np.asarray(value)).all()) if np.asarray(value).dtype.kind not in "biuO" else True


def _lost(
    program: Program,
    node: Node,
    values: Values,
    share: float | None = None,
    found: RunErrors | None = None,
    relative: float = 0.0,
) -> DigitsLost:
    """The op at the entry that has most of its error; `relative` is what that is worth in the gradient."""
    value = np.asarray(values[node.id])
    inputs = [np.asarray(values.get(id, program[id].value)) for id in node.inputs]
    exact = exact_result(node, inputs)
    if found is not None:
        weights = np.abs(found.parts(node.id, node.shape))
    else:
        weights = ~np.isfinite(value) if share is None or exact is None else np.abs(wide(value) - exact.mid)
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(weights)), node.shape))
    return DigitsLost(
        node=node.id,
        op=node.op,
        phase=node.phase,
        span=node.span,
        dtype=node.dtype,
        index=index,
        inputs=inputs_shown(node, inputs, index),
        exact="" if exact is None else exact.shown(index),
        other=number_shown(value, index, node.dtype),
        whose=_whose(node, value[index].item(), None if exact is None else exact.mid[index].item(), relative),
        share=share,
    )


def _whose(node: Node, value: complex, exact: complex | None, relative: float) -> Whose:
    """What the op did to its result, and by how much later ops enlarge it."""
    if not np.isfinite(value):
        return Whose("not-finite", f"`{node.op}` of finite numbers is {words.number(value)} in {node.dtype}")
    if exact is None or not types.is_real(node.dtype):
        return Whose("rounding", f"`{node.op}` is rounded to {node.dtype}")
    away = abs(value - exact)
    if value == 0 and abs(exact) < smallest_normal(node.dtype):
        return Whose("underflow", f"the result is too small for {node.dtype}, and is taken for zero")
    off = words.significant(away / unit(float(exact.real), node.dtype), 2).removesuffix(".0")
    growth = relative * abs(exact) / away if away else 0.0
    enlarged = f", which later ops enlarge {words.ratio(growth)} times" if growth > ENLARGED else ""
    return Whose("rounding", f"`{node.op}` is {off} ulp of {node.dtype} from its exact value{enlarged}")

"""Gradients for many examples at once, inside `torch.vmap`: read as Jacobians of what was computed for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.frontends.record.model import GradientCall, Observed, Value
from gradproof.frontends.torch.record.arrays import array_of
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.recorder import numbers
from gradproof.frontends.torch.record.transforms import IN_VMAP, are_batched, batch_place, plain


def as_jacobians(run: EngineRun, call: GradientCall) -> Iterator[GradientCall]:
    """The call as one or two whose numbers are told apart; as it was, with its doubt, where it is of another form."""
    if (
        len(run.outputs) != 1
        or len(run.weights) != 1
        or not run.inputs
        or len(run.results) != len(run.inputs)
    ):
        yield call
        return
    target, weight = run.outputs[0], run.weights[0]
    if not are_batched((target,)) and is_basis(weight, call.targets[0].value.shape or ()):
        yield _selected(
            run, call, range(len(run.inputs)), "jacobian", _rows(call.targets[0].value.shape or ())
        )
    elif batch_place(target) == 0 and _is_ones(weight) and len(call.targets[0].value.shape or ()) == 1:
        own = [k for k, one in enumerate(run.inputs) if batch_place(one) is not None]
        common = [k for k, one in enumerate(run.inputs) if not are_batched((one,))]
        if len(own) + len(common) < len(run.inputs):
            yield call
            return
        if own:
            yield _selected(run, call, own, "gradient", _in_place)
        if common:
            yield _selected(run, call, common, "jacobian", _rows(call.targets[0].value.shape or ()))
    else:
        yield call


MOST_ROWS = 16  # of calls in one that are told one by one


def as_rows(run: EngineRun, call: GradientCall) -> Iterator[GradientCall]:
    """`is_grads_batched`: a Jacobian where the weights are a basis, or one gradient for each row of them."""
    shape = call.targets[0].value.shape or ()
    weights = [None if one is None else array_of(one) for one in run.rows]
    if len(run.outputs) != 1 or len(weights) != 1 or weights[0] is None or weights[0].shape[1:] != shape:
        yield call
        return
    rows, results = weights[0], [None if one is None else array_of(one) for one in run.results]
    plainly = replace(call, pullbacks=(), doubt=None if call.doubt == IN_VMAP else call.doubt)
    if len(rows) == math.prod(shape) and np.array_equal(rows.reshape(len(rows), -1), np.eye(len(rows))):
        whole = [
            None if one is None else Observed(value_of(one.reshape(*shape, *one.shape[1:])))
            for one in results
        ]
        yield replace(plainly, api="jacobian", observed=tuple(whole), output_gradients=None)
    elif len(rows) > MOST_ROWS:
        yield call
    else:
        for k, row in enumerate(rows):
            own = tuple(None if one is None else Observed(value_of(one[k])) for one in results)
            yield replace(
                plainly, id=next(numbers), observed=own, output_gradients=(value_of(np.asarray(row)),)
            )


def as_columns(primal: Any, source: Any, direction: Any, tangent: Any) -> Any | None:
    """The Jacobian that `jacfwd` computes: many directions at once, one for every entry of the source; None if not."""
    place, shape = batch_place(tangent), tuple(plain(source).shape)
    if are_batched((primal, source)) or place is None or not is_basis(direction, shape):
        return None
    columns = np.moveaxis(array_of(plain(tangent)), place, -1)
    return columns.reshape(*columns.shape[:-1], *shape)


def is_basis(weight: Any, shape: Sequence[int]) -> bool:
    """One row for every entry of the target, 1 there and 0 elsewhere."""
    place = batch_place(weight)
    if place is None:
        return False
    rows = np.moveaxis(array_of(plain(weight)), place, 0)
    return rows.shape[1:] == tuple(shape) and np.array_equal(rows.reshape(len(rows), -1), np.eye(len(rows)))


def _is_ones(weight: Any) -> bool:
    return bool(np.all(array_of(plain(weight)) == 1))


Moved = Callable[[Any, int, Any], Any]


def _rows(shape: Sequence[int]) -> Moved:
    """A row for every entry of the target, in the target's shape."""

    def moved(array: Any, place: int, source: Any) -> Any:
        rows = np.moveaxis(array, place, 0)
        return rows.reshape(*shape, *rows.shape[1:])

    return moved


def _in_place(array: Any, place: int, source: Any) -> Any:
    """The examples along the axis that they have in the source."""
    return np.moveaxis(array, place, batch_place(source) or 0)


def value_of(array: Any) -> Value:
    return Value(-next(numbers), str(array.dtype), array.shape, lambda: array)


def _selected(
    run: EngineRun, call: GradientCall, places: Sequence[int], api: Any, moved: Moved
) -> GradientCall:
    observed: list[Observed | None] = []
    for k in places:
        place = batch_place(run.results[k])
        if place is None:
            return call
        if api == "gradient" and place == (batch_place(run.inputs[k]) or 0):
            observed.append(call.observed[k])  # as the last op of the backward pass has put it out
            continue
        array = moved(array_of(plain(run.results[k])), place, run.inputs[k])
        observed.append(Observed(value_of(array)))
    return replace(
        call,
        api=api,
        sources=tuple(call.sources[k] for k in places),
        observed=tuple(observed),
        output_gradients=None,
        pullbacks=call.pullbacks if api == "gradient" else (),
        doubt=None if call.doubt == IN_VMAP else call.doubt,
    )

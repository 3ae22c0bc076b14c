"""Gradients for many examples at once, inside `torch.vmap`: read as Jacobians of what was computed for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.frontends.record.model import GradientCall, Observed, Value
from gradproof.frontends.torch.record.arrays import array_of
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.recorder import numbers
from gradproof.frontends.torch.record.transforms import (
    IN_VMAP,
    are_batched,
    batch_axes,
    batch_place,
    plain,
)


def as_jacobians(run: EngineRun, call: GradientCall) -> Iterator[GradientCall]:
    """The call as calls whose numbers are told apart; as it was, with its doubt, where it is of another form."""
    if (
        len(run.outputs) != 1
        or len(run.weights) != 1
        or not run.inputs
        or len(run.results) != len(run.inputs)
    ):
        yield call
        return
    target, weight = run.outputs[0], run.weights[0]
    shape = call.targets[0].value.shape or ()
    if not are_batched((target,)) and is_basis(weight, shape):
        (level,) = batch_axes(weight)
        yield _jacobian(run, call, range(len(run.inputs)), [level], shape)
    elif batch_place(target) == 0:
        yield from _for_each_example(run, call, shape)
    else:
        yield call


def _for_each_example(run: EngineRun, call: GradientCall, shape: Sequence[int]) -> Iterator[GradientCall]:
    """What examples have of their own gets its rows one by one, what they share a Jacobian."""
    (level,), weight = batch_axes(run.outputs[0]), run.weights[0]
    rows = [one for one in batch_axes(weight) if one != level]  # of `jacrev` inside of `vmap`
    own = [k for k, one in enumerate(run.inputs) if [*batch_axes(one)] == [level]]
    common = [k for k, one in enumerate(run.inputs) if not are_batched((one,))]
    weights = leading(weight, [*rows, level])
    weights = np.broadcast_to(weights if rows else weights[None], (len(weights) if rows else 1, *shape))
    is_whole = len(weights) == math.prod(shape[1:]) and all(
        np.array_equal(weights[:, k].reshape(len(weights), -1), np.eye(len(weights))) for k in range(shape[0])
    )
    are_known = len(rows) <= 1 and len(own) + len(common) == len(run.inputs)
    if not are_known or len(weights) > MOST_ROWS or (common and not is_whole):
        yield call
    else:
        if own:
            for k, row in enumerate(weights):
                yield _row(run, call, own, (level, k if rows else None), row)
        if common:
            yield _jacobian(run, call, common, [level, *rows], shape)


def _row(
    run: EngineRun, call: GradientCall, places: Sequence[int], at: tuple[int, int | None], row: Any
) -> GradientCall:
    """One row for all examples together: each moves its own numbers only."""
    level, k = at
    observed: list[Observed | None] = []
    for place in places:
        source, result = batch_axes(run.inputs[place])[level], run.results[place]
        if k is None and batch_axes(result) == {level: source}:
            observed.append(call.observed[place])  # as the last op of the backward pass has put it out
            continue
        levels = [one for one in batch_axes(result) if one != level]
        array = leading(result, [*levels, level])
        array = array[k] if levels else array
        observed.append(Observed(value_of(np.moveaxis(array, 0, source))))
    told = call if k is None else replace(call, id=next(numbers), pullbacks=())
    plain_sum = len(row.shape) == 1 and bool((row == 1).all())
    return replace(_judged(told, places, observed), output_gradients=None if plain_sum else (value_of(row),))


def _jacobian(
    run: EngineRun, call: GradientCall, places: Sequence[int], levels: Sequence[int], shape: Sequence[int]
) -> GradientCall:
    """A row for every entry of the target, in the target's shape."""
    observed: list[Observed | None] = []
    for k in places:
        if not set(levels) & set(batch_axes(run.results[k])):
            return call
        rows = leading(run.results[k], levels)
        rows = np.broadcast_to(rows, (*_lengths(shape, levels), *rows.shape[len(levels) :]))
        observed.append(Observed(value_of(rows.reshape(*shape, *rows.shape[len(levels) :]))))
    return replace(_judged(call, places, observed), api="jacobian", output_gradients=None, pullbacks=())


def _lengths(shape: Sequence[int], levels: Sequence[int]) -> tuple[int, ...]:
    """Of the axes of these levels: all entries of the target, or its examples and the entries of each."""
    return (math.prod(shape),) if len(levels) == 1 else (shape[0], math.prod(shape[1:]))


def _judged(call: GradientCall, places: Sequence[int], observed: Sequence[Observed | None]) -> GradientCall:
    return replace(
        call,
        sources=tuple(call.sources[k] for k in places),
        observed=tuple(observed),
        doubt=None if call.doubt == IN_VMAP else call.doubt,
    )


def leading(tensor: Any, levels: Sequence[int]) -> Any:
    """The numbers, the axes of these levels first; what has none of a level is the same for all of it."""
    axes, array = batch_axes(tensor), array_of(plain(tensor))
    known = [axes[level] for level in levels if level in axes]
    array = np.moveaxis(array, known, range(len(known)))
    return np.expand_dims(array, [k for k, level in enumerate(levels) if level not in axes])


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


Pair = tuple[Any, Any]  # a tensor, and the direction it moves in; or a result, and its tangent


def as_columns(call: GradientCall, given: Sequence[Pair], result: Pair) -> Iterator[GradientCall]:
    """Forward mode for many examples, or in many directions: the call as calls whose numbers are told apart."""
    primal, tangent = result
    shape, sources = call.targets[0].value.shape or (), [source for source, _ in given]
    examples = [*batch_axes(primal)]
    many = [level for level in batch_axes(tangent) if level not in examples]
    doubtful = replace(call, doubt=IN_VMAP)
    if len(many) > 1 or (examples and batch_place(primal) != 0):
        yield doubtful
    elif not are_batched(sources):
        (source, direction), *others = given
        whole = tuple(plain(source).shape)
        if others or not many or not is_basis(direction, whole):
            yield doubtful
            return
        columns = np.moveaxis(leading(tangent, [*examples, *many]), len(examples), -1)
        columns = np.broadcast_to(columns, (*shape, columns.shape[-1])).reshape(*shape, *whole)
        observed = (Observed(value_of(columns)),)
        yield replace(call, api="jacobian", tangents=(), observed=observed, pullbacks=())
    elif any([*batch_axes(source)] != examples for source in sources):
        yield doubtful
    else:
        yield from _directions(call, given, tangent, [*many, *examples]) or (doubtful,)


def _directions(
    call: GradientCall, given: Sequence[Pair], tangent: Any, levels: Sequence[int]
) -> list[GradientCall]:
    """One call for each direction, of all examples together: each moves its own numbers only."""
    moved = leading(tangent, levels)
    if len(levels) == 1:
        moved = moved[None]
    if len(moved) > MOST_ROWS:
        return []
    found = []
    for k, column in enumerate(moved):
        tangents = []
        for source, direction in given:
            own = leading(direction, levels)
            own = own if len(levels) == 1 else own[k % len(own)]
            place = batch_axes(source)[levels[-1]]
            array = np.moveaxis(own, 0, place)
            tangents.append(value_of(np.broadcast_to(array, plain(source).shape)))
        observed = Observed(value_of(np.broadcast_to(column, call.targets[0].value.shape or ())))
        found.append(
            replace(
                call,
                id=next(numbers),
                tangents=tuple(tangents),
                observed=(observed,),
                pullbacks=(),
                doubt=None,
            )
        )
    return found


def is_basis(weight: Any, shape: Sequence[int]) -> bool:
    """One row for every entry of the target, 1 there and 0 elsewhere."""
    place = batch_place(weight)
    if place is None:
        return False
    rows = np.moveaxis(array_of(plain(weight)), place, 0)
    return rows.shape[1:] == tuple(shape) and np.array_equal(rows.reshape(len(rows), -1), np.eye(len(rows)))


def value_of(array: Any) -> Value:
    return Value(-next(numbers), str(array.dtype), array.shape, lambda: array)

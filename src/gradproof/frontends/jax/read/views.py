"""What a gradient call asked for, in the terms of the judge: gradients, Jacobians, directional derivatives.

The same pullback serves a gradient, the rows of a Jacobian (under `vmap`, with unit vectors as weights) and the
gradients of many examples. And JAX's gradient for a complex number is the conjugate of the one that the judge speaks
of: seen as a function of the conjugate, both are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.notes import Ending
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.jax.read.values import plain_value
from gradproof.frontends.record.model import Api, Exit, OpEvent, Value
from gradproof.ir import types

FIRST = -1  # the index of what comes before all that ran


@dataclass(frozen=True)
class Parts:
    """The values of one gradient call and the events around them; forward mode has tangents for weights."""

    sources: tuple[Value, ...]
    targets: tuple[Value, ...]
    weights: tuple[Value, ...]
    results: tuple[Value, ...]
    events: Sequence[OpEvent]
    exits: tuple[Exit, ...] = ()


@dataclass(frozen=True)
class JaxView:
    """One question that the call answered: which of its sources and targets it is about, and their values."""

    api: Api
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    part: Parts


def views(ending: Ending, part: Parts) -> Iterator[JaxView]:
    """All that was asked for; what cannot be put in these terms raises, and says why."""
    batches = [
        _batch(group) for group in (ending.of.sources, ending.of.targets, ending.weights, ending.results)
    ]
    if any(len(one) > 1 for group in batches for one in group):
        raise GradproofError("a gradient inside two `vmap`s, one inside the other, is not judged")
    of_sources, of_targets, of_weights, of_results = batches
    if ending.is_forward:
        yield from _forward(ending, part, batches)
        return
    everything = tuple(range(len(part.sources))), tuple(range(len(part.targets)))
    if not any(one for group in batches for one in group):
        yield _gradient(part, *everything)
    elif any(of_weights) and not any(of_targets):
        if ending.asked.api != "jacrev":
            raise GradproofError("a pullback whose weights are batched by `vmap` is not judged")
        yield from _jacobians(part, of_results)
    else:
        yield from _examples(part, of_sources, of_targets, of_weights, of_results)


def _forward(ending: Ending, part: Parts, batches: list[list[tuple[int, ...]]]) -> Iterator[JaxView]:
    """A directional derivative, or the columns of Jacobians, whose tangents are the unit vectors."""
    of_sources, of_targets, of_weights, of_results = batches
    sources, targets = tuple(range(len(part.sources))), tuple(range(len(part.targets)))
    if any(types.is_complex(value.dtype) for value in (*part.sources, *part.targets)):
        raise GradproofError("forward derivatives of complex functions are not judged")
    if any(of_sources) or any(of_targets):
        raise GradproofError("a forward derivative inside `vmap` is not judged")
    if not any(of_weights) and not any(of_results):
        yield JaxView("jvp", sources, targets, part)
        return
    if ending.asked.api != "jacfwd":
        raise GradproofError("tangents that are batched by `vmap` are not judged")
    for k, target in enumerate(part.targets):
        made, begin = [], 0
        for source in part.sources:
            end = begin + math.prod(source.shape or ())
            shape = (*(target.shape or ()), *(source.shape or ()))
            made.append(_columns(part.results[k], of_results[k], begin, end, shape))
            begin = end
        yield _jacobian(part, sources, k, made)


def _columns(result: Value, axes: tuple[int, ...], begin: int, end: int, shape: tuple[int, ...]) -> OpEvent:
    """Some columns of a batched tangent as an array of this shape; what was not batched is the same for all."""
    array = result.array
    if array is None:
        raise GradproofError("the tangents of integers are no numbers")
    if axes:
        columns = np.moveaxis(array, axes[0], -1)[..., begin:end].reshape(shape)
    else:
        columns = np.broadcast_to(array[..., None], (*array.shape, end - begin)).reshape(shape)
    attrs = {"axis": axes[0] if axes else None, "begin": begin, "end": end}
    return _event("gradproof.columns", [result], [plain_value(np.array(columns))], attrs)


def _batch(group: Sequence[Bottom]) -> list[tuple[int, ...]]:
    return [one.batch_axes for one in group]


def _gradient(part: Parts, sources: tuple[int, ...], targets: tuple[int, ...]) -> JaxView:
    """Weights and sources in the judge's convention of complex numbers."""
    events, own = list(part.events), []
    for value in part.sources:
        turned = _conjugate(value)
        if turned is not value:
            events.insert(0, replace(_event("conj", [turned], [value], {}), index=FIRST))
        own.append(turned)
    weights = tuple(map(_conjugate, part.weights))
    return JaxView(
        "gradient", sources, targets, replace(part, sources=tuple(own), weights=weights, events=events)
    )


def _conjugate(value: Value) -> Value:
    if not types.is_complex(value.dtype) or value.array is None:
        return value
    return plain_value(np.conj(value.array))


def _event(op: str, inputs: Sequence[Value], outputs: Sequence[Value], attrs: dict[str, Any]) -> OpEvent:
    return OpEvent(next(numbers), op, tuple(inputs), tuple(outputs), attrs, None, (), "backward")


def _jacobians(part: Parts, axes: Sequence[tuple[int, ...]]) -> Iterator[JaxView]:
    """One Jacobian per target: its rows are some of the rows that the pullback returned."""
    begin = 0
    for k, target in enumerate(part.targets):
        end = begin + math.prod(target.shape or ())
        made = [
            _rows(result, axis, begin, end, (*(target.shape or ()), *(source.shape or ())))
            for result, axis, source in zip(part.results, axes, part.sources)
        ]
        yield _jacobian(
            part, tuple(range(len(part.sources))), k, [event for event in made if event is not None]
        )
        begin = end


def _jacobian(part: Parts, sources: tuple[int, ...], target: int, made: Sequence[OpEvent]) -> JaxView:
    own = tuple(part.sources[k] for k in sources)
    if any(types.is_complex(value.dtype) for value in (*own, part.targets[target])):
        raise GradproofError("Jacobians of complex functions are not judged")
    results = tuple(event.outputs[0] for event in made)
    return JaxView(
        "jacobian",
        sources,
        (target,),
        Parts(own, (part.targets[target],), part.weights, results, [*part.events, *made]),
    )


def _rows(result: Value, axes: tuple[int, ...], begin: int, end: int, shape: tuple[int, ...]) -> OpEvent:
    """Some rows of a batched result as an array of this shape; what was not batched is the same for all."""
    array = result.array
    if array is None:
        raise GradproofError("the gradients of integers are no numbers")
    if axes:
        rows = np.moveaxis(array, axes[0], 0)[begin:end].reshape(shape)
    else:
        rows = np.broadcast_to(array, (end - begin, *array.shape)).reshape(shape)
    attrs = {"axis": axes[0] if axes else None, "begin": begin, "end": end}
    return _event("gradproof.rows", [result], [plain_value(rows)], attrs)


def _examples(
    part: Parts,
    of_sources: Sequence[tuple[int, ...]],
    of_targets: Sequence[tuple[int, ...]],
    of_weights: Sequence[tuple[int, ...]],
    of_results: Sequence[tuple[int, ...]],
) -> Iterator[JaxView]:
    """Gradients of many examples at once: of their sum for what each has of its own, a row each for what they share."""
    own = tuple(k for k, axes in enumerate(of_sources) if axes or not of_results[k])
    shared = tuple(k for k in range(len(part.sources)) if k not in own)
    weights = tuple(
        _spread(weight, axes, target, along)
        for weight, axes, target, along in zip(
            part.weights, of_weights, part.targets, of_targets, strict=True
        )
    )
    made = [_lined_up(part, k, of_sources[k], of_results[k]) for k in own]
    if own:
        chosen = Parts(
            tuple(part.sources[k] for k in own),
            part.targets,
            weights,
            tuple(event.outputs[0] for event in made),
            [*part.events, *made],
        )
        yield _gradient(chosen, own, tuple(range(len(part.targets))))
    if shared:
        yield _per_example(part, shared, of_targets, of_results, weights)


def _spread(weight: Value, axes: tuple[int, ...], target: Value, along: tuple[int, ...]) -> Value:
    """A weight in the shape of its target, batch and all."""
    array = weight.array
    if array is None or not along:
        if axes:
            raise GradproofError(
                "weights that are batched by `vmap`, of a target that is not, are not judged"
            )
        return weight
    array = np.moveaxis(array, axes[0], along[0]) if axes else np.expand_dims(array, along[0])
    return plain_value(np.array(np.broadcast_to(array, target.shape or ())))


def _lined_up(part: Parts, k: int, of_source: tuple[int, ...], of_result: tuple[int, ...]) -> OpEvent:
    """A result whose examples lie along the axis that they have in its source."""
    source, result = part.sources[k], part.results[k]
    array = result.array
    if array is None:
        raise GradproofError("the gradients of integers are no numbers")
    if of_source and of_result:
        moved = np.moveaxis(array, of_result[0], of_source[0])
    elif of_source:
        moved = np.broadcast_to(np.expand_dims(array, of_source[0]), source.shape or ())
    else:
        moved = array
    attrs = {"source": of_source, "result": of_result}
    return _event("gradproof.line_up", [result], [plain_value(np.array(moved))], attrs)


def _per_example(
    part: Parts,
    shared: tuple[int, ...],
    of_targets: Sequence[tuple[int, ...]],
    of_results: Sequence[tuple[int, ...]],
    weights: Sequence[Value],
) -> JaxView:
    """What all examples share has a gradient for each of them: the rows of a Jacobian of their targets."""
    target = part.targets[0]
    is_plain = all(value.array is not None and bool((value.array == 1).all()) for value in weights)
    if len(part.targets) != 1 or len(target.shape or ()) != 1 or not of_targets[0] or not is_plain:
        raise GradproofError(
            "gradients of many examples for what they share are judged for one number per example"
        )
    n = (target.shape or (0,))[0]
    made = [_rows(part.results[k], of_results[k], 0, n, (n, *(part.sources[k].shape or ()))) for k in shared]
    return _jacobian(part, shared, 0, made)

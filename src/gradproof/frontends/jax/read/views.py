"""What a gradient call asked for, in the terms of the judge: gradients, Jacobians, directional derivatives.

The same pullback serves a gradient, the rows of a Jacobian (under `vmap`, with unit vectors as weights) and the
gradients of many examples. And JAX's gradient for a complex number is the conjugate of the one that the judge speaks
of: seen as a function of the conjugate, both are the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.notes import Ending
from gradproof.frontends.jax.read.arrange import (
    Arrangement,
    Labels,
    Stretch,
    arrangement,
    labels_of,
    levels_in,
    own_shape,
    units,
)
from gradproof.frontends.jax.read.parts import (
    Parts,
    conjugate,
    in_real_numbers,
    made_event,
    one_part,
    turned,
)
from gradproof.frontends.jax.read.values import plain_value
from gradproof.frontends.record.model import Api, OpEvent, Value
from gradproof.ir import types
from gradproof.ir.types import Array

BATCHED_WEIGHTS = "a pullback whose weights are batched by `vmap` is not judged"
BATCHED_TANGENTS = "tangents that are batched by `vmap` are not judged"
SHARED_BY_EXAMPLES = "gradients of many examples for what they share are judged for one number per example"


@dataclass(frozen=True)
class JaxView:
    """One question that the call answered: which of its sources and targets it is about, and their values."""

    api: Api
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    part: Parts


def views(ending: Ending, part: Parts) -> Iterator[JaxView]:
    """All that was asked for; what cannot be put in these terms raises, and says why."""
    groups = (ending.of.sources, ending.of.targets, ending.weights, ending.results)
    values = (part.sources, part.targets, part.weights, part.results)
    of = _Labels(*(tuple(map(labels_of, *pair)) for pair in zip(groups, values)))
    around = {level for labels in (*of.targets, *of.sources) for level in levels_in(labels)}
    rows = {level for labels in of.weights for level in levels_in(labels)} - around
    is_jacobian = ending.asked.api in ("jacrev", "jacfwd") or _are_units(part, of)
    if len(rows) > 1 or (rows and not is_jacobian):
        raise GradproofError(BATCHED_TANGENTS if ending.is_forward else BATCHED_WEIGHTS)
    sources, targets = tuple(range(len(part.sources))), tuple(range(len(part.targets)))
    if ending.is_forward:
        whole = in_real_numbers(part, is_jacobian=bool(rows))
        of = _Labels(
            *(tuple(group[k] for k in places) for group, places in zip(of.groups, whole.places, strict=True))
        )
        for view in _forward(whole.part, of, rows, bool(around)):
            yield replace(
                view,
                sources=tuple(whole.places[0][k] for k in view.sources),
                targets=tuple(whole.places[1][k] for k in view.targets),
            )
    elif rows:
        (row,) = rows
        yield from _rows(part, of, row)
    elif not around:
        yield _gradient(part, sources, targets)
    else:
        yield from _examples(part, of)


def _forward(part: Parts, of: _Labels, rows: set[Hashable], is_batched: bool) -> Iterator[JaxView]:
    if rows:
        (row,) = rows
        yield from _columns(part, of, row)
        return
    sources, targets = tuple(range(len(part.sources))), tuple(range(len(part.targets)))
    yield JaxView("jvp", sources, targets, _along(part, of) if is_batched else part)


def _are_units(part: Parts, of: _Labels) -> bool:
    """Whether the unit vectors were asked for by hand, as in `vmap(pullback)(jnp.eye(n))`."""
    if len(part.weights) != 1 or part.weights[0].array is None or len(levels_in(of.weights[0])) != 1:
        return False
    axis = of.weights[0].index(levels_in(of.weights[0])[0])
    array = np.moveaxis(part.weights[0].array, axis, 0)
    return bool(np.array_equal(array.reshape(len(array), -1), np.eye(len(array))))


@dataclass(frozen=True)
class _Labels:
    """The labels of the axes of everything in a call."""

    sources: tuple[Labels, ...]
    targets: tuple[Labels, ...]
    weights: tuple[Labels, ...]
    results: tuple[Labels, ...]

    @property
    def groups(self) -> tuple[tuple[Labels, ...], ...]:
        return self.sources, self.targets, self.weights, self.results


def _along(part: Parts, of: _Labels) -> Parts:
    """Directional derivatives of many examples are one of all of them together."""
    weights = tuple(map(_spread, part.weights, of.weights, part.sources, of.sources))
    made = [
        _arranged(result, arrangement(labels, wanted, target.shape or ()))
        for result, labels, target, wanted in zip(part.results, of.results, part.targets, of.targets)
    ]
    return replace(
        part,
        weights=weights,
        results=tuple(event.outputs[0] for event in made),
        events=[*part.events, *made],
    )


def _gradient(part: Parts, sources: tuple[int, ...], targets: tuple[int, ...]) -> JaxView:
    """Weights and sources in the judge's convention of complex numbers."""
    own, events = turned(part.sources, part.events)
    weights = tuple(map(conjugate, part.weights))
    return JaxView("gradient", sources, targets, replace(part, sources=own, weights=weights, events=events))


def _rows(part: Parts, of: _Labels, row: Hashable) -> Iterator[JaxView]:
    """One Jacobian per target: its rows are some of the rows that the pullback returned."""
    begin = 0
    for k, target in enumerate(part.targets):
        shape = own_shape(of.targets[k], target)
        end, made = begin + math.prod(shape), []
        for source, wanted, result, labels in zip(part.sources, of.sources, part.results, of.results):
            _require_own_examples(of.targets[k], wanted)
            cut = Stretch(labels.index(row), begin, end, shape) if row in labels else None
            order = (*units(len(shape)), *wanted)
            made.append(_arranged(result, arrangement(labels, order, (*shape, *(source.shape or ())), cut)))
        yield _jacobian(part, tuple(range(len(part.sources))), k, of.targets[k], (), made)
        begin = end


def _columns(part: Parts, of: _Labels, column: Hashable) -> Iterator[JaxView]:
    """One Jacobian per target, by its columns: what forward mode returned for all unit vectors at once."""
    for k, target in enumerate(part.targets):
        begin, made, result, labels = 0, [], part.results[k], of.results[k]
        rows = own_shape(of.targets[k], target)
        for source, wanted in zip(part.sources, of.sources):
            _require_own_examples(of.targets[k], wanted)
            shape = own_shape(wanted, source)
            end, unit = begin + math.prod(shape), units(len(shape))
            cut = Stretch(labels.index(column), begin, end, shape) if column in labels else None
            order = (*range(len(rows)), *(unit[one] if isinstance(one, int) else one for one in wanted))
            made.append(_arranged(result, arrangement(labels, order, (*rows, *(source.shape or ())), cut)))
            begin = end
        yield _jacobian(part, tuple(range(len(part.sources))), k, of.targets[k], (), made)


def _require_own_examples(of_target: Labels, of_source: Labels) -> None:
    if not set(levels_in(of_target)) <= set(levels_in(of_source)):
        raise GradproofError(SHARED_BY_EXAMPLES)


def _jacobian(
    part: Parts,
    sources: tuple[int, ...],
    target: int,
    of_target: Labels,
    kept: Labels,
    made: Sequence[OpEvent],
) -> JaxView:
    """The Jacobian of a target summed over the examples, but for those that have a row each."""
    own, events = turned([part.sources[k] for k in sources], part.events)
    value = part.targets[target]
    if types.is_complex(value.dtype):  # a row of the Jacobian is what the pullback makes of a real unit
        value = one_part(value, "real", events)
    axes = tuple(k for k, label in enumerate(of_target) if not isinstance(label, int) and label not in kept)
    if axes:
        array = _numbers(value)
        total = plain_value(array.sum(axis=axes, dtype=array.dtype))
        events.append(made_event("reduce_sum", [value], [total], {"axes": axes}))
        value = total
    results = tuple(event.outputs[0] for event in made)
    return JaxView(
        "jacobian", sources, (target,), Parts(own, (value,), part.weights, results, [*events, *made])
    )


def _numbers(value: Value) -> Array:
    if value.array is None:
        raise GradproofError("the gradients of integers are no numbers")
    return value.array


def _arranged(result: Value, how: Arrangement) -> OpEvent:
    return made_event("gradproof.arranged", [result], [plain_value(how.of(_numbers(result)))], {"how": how})


def _examples(part: Parts, of: _Labels) -> Iterator[JaxView]:
    """Gradients of many examples at once: of their sum for what each has of its own, a row each for what they share."""
    weights = tuple(map(_spread, part.weights, of.weights, part.targets, of.targets))
    everywhere = tuple(dict.fromkeys(level for labels in of.targets for level in levels_in(labels)))
    groups: dict[Labels, list[int]] = {}
    for k, labels in enumerate(of.sources):
        groups.setdefault(tuple(level for level in everywhere if level not in labels), []).append(k)
    for shared, group in groups.items():
        sources = tuple(group)
        if shared:
            yield _per_example(part, of, sources, shared, weights)
            continue
        made = [_lined_up(part, of, k) for k in sources]
        chosen = Parts(
            tuple(part.sources[k] for k in sources),
            part.targets,
            weights,
            tuple(event.outputs[0] for event in made),
            [*part.events, *made],
        )
        yield _gradient(chosen, sources, tuple(range(len(part.targets))))


def _spread(weight: Value, labels: Labels, of: Value, wanted: Labels) -> Value:
    """A weight in the shape of what it belongs to, batch and all."""
    if not levels_in(wanted) and not levels_in(labels):
        return weight
    if not set(levels_in(labels)) <= set(wanted):
        raise GradproofError("weights that are batched by `vmap`, of what is not, are not judged")
    return plain_value(arrangement(labels, wanted, of.shape or ()).of(_numbers(weight)))


def _lined_up(part: Parts, of: _Labels, k: int) -> OpEvent:
    """A result whose examples lie along the axes that they have in its source."""
    shape = part.sources[k].shape or ()
    return _arranged(part.results[k], arrangement(of.results[k], of.sources[k], shape))


def _per_example(
    part: Parts, of: _Labels, sources: tuple[int, ...], shared: Labels, weights: Sequence[Value]
) -> JaxView:
    """What examples share has a gradient for each of them: the rows of a Jacobian of their targets."""
    target, labels = part.targets[0], of.targets[0]
    is_plain = all(value.array is not None and bool((value.array == 1).all()) for value in weights)
    if len(part.targets) != 1 or own_shape(labels, target) or not is_plain:
        raise GradproofError(SHARED_BY_EXAMPLES)
    rows = tuple(label for label in labels if label in shared)
    lengths = tuple(n for label, n in zip(labels, target.shape or ()) if label in shared)
    made = [
        _arranged(
            part.results[k],
            arrangement(
                of.results[k],
                (*rows, *of.sources[k]),
                (*lengths, *(part.sources[k].shape or ())),
            ),
        )
        for k in sources
    ]
    return _jacobian(part, sources, 0, labels, rows, made)

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
    arranged,
    conjugate,
    in_real_numbers,
    made_event,
    numbers_of,
    one_part,
    turned,
    weighted,
)
from gradproof.frontends.jax.read.values import plain_value
from gradproof.frontends.record.model import Api, OpEvent, Value
from gradproof.ir import types

BATCHED_WEIGHTS = "a pullback whose weights are batched by `vmap` is not judged"
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
    is_jacobian = len(rows) == 1 and (ending.asked.api in ("jacrev", "jacfwd") or _are_units(part, of))
    sources, targets = tuple(range(len(part.sources))), tuple(range(len(part.targets)))
    if ending.is_forward:
        whole = in_real_numbers(part, is_jacobian)
        of = _Labels(
            *(tuple(group[k] for k in places) for group, places in zip(of.groups, whole.places, strict=True))
        )
        for view in _forward(whole.part, of, rows, is_jacobian):
            yield replace(
                view,
                sources=tuple(whole.places[0][k] for k in view.sources),
                targets=tuple(whole.places[1][k] for k in view.targets),
            )
    elif is_jacobian:
        (row,) = rows
        yield from _rows(part, of, row)
    elif rows:
        yield _weighted_rows(part, of, rows)
    elif not around:
        yield _gradient(part, sources, targets)
    else:
        yield from _examples(part, of)


def _forward(part: Parts, of: _Labels, rows: set[Hashable], is_jacobian: bool) -> Iterator[JaxView]:
    if is_jacobian:
        (row,) = rows
        yield from _columns(part, of, row)
        return
    sources, targets = tuple(range(len(part.sources))), tuple(range(len(part.targets)))
    is_batched = any(levels_in(labels) for group in of.groups for labels in group)
    yield JaxView("jvp", sources, targets, _along(part, of, rows) if is_batched else part)


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


def _along(part: Parts, of: _Labels, rows: set[Hashable]) -> Parts:
    """Directional derivatives of many examples are one of all of them together; many directions are counted first."""
    lead, lengths = _counted(part, of, rows)
    weights = tuple(
        _spread(weight, labels, (*lengths, *(source.shape or ())), (*lead, *wanted))
        for weight, labels, source, wanted in zip(part.weights, of.weights, part.sources, of.sources)
    )
    made = [
        arranged(result, arrangement(labels, (*lead, *wanted), (*lengths, *(target.shape or ()))))
        for result, labels, target, wanted in zip(part.results, of.results, part.targets, of.targets)
    ]
    return replace(
        part,
        weights=weights,
        results=tuple(event.outputs[0] for event in made),
        events=[*part.events, *made],
    )


def _counted(part: Parts, of: _Labels, rows: set[Hashable]) -> tuple[Labels, tuple[int, ...]]:
    """The `vmap`s over weights or tangents alone, and how many of these each has."""
    counts = {
        label: n
        for weight, labels in zip(part.weights, of.weights)
        for label, n in zip(labels, weight.shape or ())
        if label in rows
    }
    return tuple(counts), tuple(counts.values())


def _weighted_rows(part: Parts, of: _Labels, rows: set[Hashable]) -> JaxView:
    """Gradients for many weights at once: the Jacobian of what the targets sum up to with each of these."""
    if any(types.is_complex(value.dtype) for value in (*part.targets, *part.weights, *part.sources)):
        raise GradproofError(BATCHED_WEIGHTS)
    lead, lengths = _counted(part, of, rows)
    weights, made = [], []
    for target, labels, weight, own in zip(part.targets, of.targets, part.weights, of.weights):
        for wanted in of.sources:
            _require_own_examples(labels, wanted)
        weights.append(_spread(weight, own, (*lengths, *(target.shape or ())), (*lead, *labels)))
    total, events = weighted(part.targets, weights, lengths)
    for source, wanted, result, labels in zip(part.sources, of.sources, part.results, of.results):
        shape = (*lengths, *(source.shape or ()))
        made.append(arranged(result, arrangement(labels, (*lead, *wanted), shape)))
    results = tuple(event.outputs[0] for event in made)
    own_part = Parts(
        part.sources, (total,), part.weights, results, [*part.events, *events, *made], part.exits
    )
    return JaxView("jacobian", tuple(range(len(part.sources))), (0,), own_part)


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
            made.append(arranged(result, arrangement(labels, order, (*shape, *(source.shape or ())), cut)))
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
            made.append(arranged(result, arrangement(labels, order, (*rows, *(source.shape or ())), cut)))
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
        array = numbers_of(value)
        total = plain_value(array.sum(axis=axes, dtype=array.dtype))
        events.append(made_event("reduce_sum", [value], [total], {"axes": axes}))
        value = total
    results = tuple(event.outputs[0] for event in made)
    return JaxView(
        "jacobian", sources, (target,), Parts(own, (value,), part.weights, results, [*events, *made])
    )


def _examples(part: Parts, of: _Labels) -> Iterator[JaxView]:
    """Gradients of many examples at once: of their sum for what each has of its own, a row each for what they share."""
    shapes = [target.shape or () for target in part.targets]
    weights = tuple(map(_spread, part.weights, of.weights, shapes, of.targets))
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


def _spread(weight: Value, labels: Labels, shape: tuple[int, ...], wanted: Labels) -> Value:
    """A weight in the shape of what it belongs to, batch and all."""
    if not levels_in(wanted) and not levels_in(labels):
        return weight
    if not set(levels_in(labels)) <= set(wanted):
        raise GradproofError("weights that are batched by `vmap`, of what is not, are not judged")
    return plain_value(arrangement(labels, wanted, shape).of(numbers_of(weight)))


def _lined_up(part: Parts, of: _Labels, k: int) -> OpEvent:
    """A result whose examples lie along the axes that they have in its source."""
    shape = part.sources[k].shape or ()
    return arranged(part.results[k], arrangement(of.results[k], of.sources[k], shape))


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
        arranged(
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

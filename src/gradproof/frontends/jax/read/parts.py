"""The values of one gradient call, and complex ones among them as the judge speaks of them.

JAX's gradient for a complex number is the conjugate of the judge's: seen as a function of the conjugate, both are the
same. Forward mode moves real and imaginary parts, which are numbers of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.jax.read.arrange import Arrangement
from gradproof.frontends.jax.read.values import plain_value
from gradproof.frontends.record.model import Exit, OpEvent, Value
from gradproof.ir import types
from gradproof.ir.types import Array

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
class InRealNumbers:
    """The same call with real numbers only; `places` says for each of its four groups which value each one is of."""

    part: Parts
    places: tuple[tuple[int, ...], ...]


def in_real_numbers(part: Parts, is_jacobian: bool) -> InRealNumbers:
    """Forward mode: sources and targets by real and imaginary parts; columns of a Jacobian move the real one only."""
    events = list(part.events)
    sources: list[tuple[int, Value]] = []
    weights: list[tuple[int, Value]] = []
    for k, (source, weight) in enumerate(zip(part.sources, part.weights, strict=True)):
        if not types.is_complex(source.dtype) or source.array is None or weight.array is None:
            sources.append((k, source))
            weights.append((k, weight))
            continue
        pair = [plain_value(np.array(one)) for one in (source.array.real, source.array.imag)]
        events = _made_of("complex", pair, source, events)
        moved = [plain_value(np.array(one)) for one in (weight.array.real, weight.array.imag)]
        n_moved = 1 if is_jacobian else 2
        sources += [(k, one) for one in pair[:n_moved]]
        weights += [(k, one) for one in moved[:n_moved]]
    targets = [(k, one) for k, value in enumerate(part.targets) for one in _split(value, events)]
    results = [(k, one) for k, value in enumerate(part.results) for one in _split(value, events)]
    groups = (sources, targets, weights, results)
    values = [tuple(one for _, one in group) for group in groups]
    own = replace(
        part, sources=values[0], targets=values[1], weights=values[2], results=values[3], events=events
    )
    return InRealNumbers(own, tuple(tuple(k for k, _ in group) for group in groups))


def _split(value: Value, events: list[OpEvent]) -> list[Value]:
    if not types.is_complex(value.dtype) or value.array is None:
        return [value]
    return [one_part(value, "real", events), one_part(value, "imag", events)]


def one_part(value: Value, which: Literal["real", "imag"], events: list[OpEvent]) -> Value:
    """The real or imaginary part, with the event that makes it."""
    part = plain_value(np.array(getattr(value.array, which)))
    events.append(made_event(which, [value], [part], {}))
    return part


def turned(sources: Sequence[Value], events: Sequence[OpEvent]) -> tuple[tuple[Value, ...], list[OpEvent]]:
    """Complex sources by their conjugates, and the events with those that take them back."""
    found, own = list(events), []
    for value in sources:
        other = conjugate(value)
        if other is not value:
            found = _made_of("conj", [other], value, found)
        own.append(other)
    return tuple(own), found


def conjugate(value: Value) -> Value:
    if not types.is_complex(value.dtype) or value.array is None:
        return value
    return plain_value(np.conj(value.array))


def _made_of(op: str, parts: Sequence[Value], source: Value, events: Sequence[OpEvent]) -> list[OpEvent]:
    """The events with a source made of its parts, and of nothing else, before all that ran."""
    first = replace(made_event(op, parts, [source], {}), index=FIRST)
    return [first, *(event for event in events if all(one.id != source.id for one in event.outputs))]


def made_event(op: str, inputs: Sequence[Value], outputs: Sequence[Value], attrs: dict[str, Any]) -> OpEvent:
    return OpEvent(next(numbers), op, tuple(inputs), tuple(outputs), attrs, None, (), "backward")


def numbers_of(value: Value) -> Array:
    if value.array is None:
        raise GradproofError("the gradients of integers are no numbers")
    return value.array


def arranged(result: Value, how: Arrangement) -> OpEvent:
    return made_event("gradproof.arranged", [result], [plain_value(how.of(numbers_of(result)))], {"how": how})


def weighted(
    targets: Sequence[Value], weights: Sequence[Value], lengths: tuple[int, ...]
) -> tuple[Value, list[OpEvent]]:
    """The sums of all targets with each of many weights, which the first axes of the weights count; and its events."""
    events = []

    def made(op: str, inputs: Sequence[Value], array: Any, **attrs: Any) -> Value:
        value = plain_value(array)
        events.append(made_event(op, inputs, [value], attrs))
        return value

    flat = [
        made("reshape", [target], numbers_of(target).reshape(-1), new_sizes=(-1,), dimensions=None)
        for target in targets
    ]
    whole = made("concatenate", flat, np.concatenate([numbers_of(one) for one in flat]), dimension=0)
    rows = np.concatenate([numbers_of(one).reshape(*lengths, -1) for one in weights], axis=-1)
    contracted = (((len(lengths),), (0,)), ((), ()))
    total = made(
        "dot_general", [plain_value(rows), whole], rows @ numbers_of(whole),
        dimension_numbers=contracted, preferred_element_type=None,
    )  # fmt: skip
    return total, events

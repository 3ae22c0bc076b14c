"""Which events a gradient call needs, and which of them belong to its backward pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.jax.read.parts import Parts
from gradproof.frontends.jax.read.rules import JaxRules
from gradproof.frontends.jax.read.values import plain_value
from gradproof.frontends.record.flow import gives
from gradproof.frontends.record.model import RETURN_OP, OpEvent, Value


def given_results(part: Parts) -> Iterator[OpEvent]:
    """Gradients that no op computed: zeros that JAX has filled in, or what came in handed on."""
    made = {value.id for event in part.events for value in event.outputs}
    made |= {value.id for value in (*part.sources, *part.weights)}
    for value in part.results:
        if value.id not in made and value.array is not None:
            given = plain_value(value.array)
            yield OpEvent(next(numbers), RETURN_OP, (given,), (value,), {}, None, (), "backward")


def needed_for(events: Sequence[OpEvent], part: Parts, rules: JaxRules) -> list[OpEvent]:
    """The events that the targets or the gradients were computed by; a source is where the program begins."""
    sources = {value.id for value in part.sources}
    wanted = {value.id for value in (*_function(part, rules), *part.results, *part.weights)}
    for rule in rules.pullbacks:
        steps = () if rule.piece is None else (*rule.piece[0], *rule.piece[1])
        wanted.update(value.id for value in (*rule.upstream, *rule.results, *steps) if value is not None)
    wanted -= sources
    kept = []
    for event in reversed(events):
        if gives(event, wanted):
            kept.append(event)
            wanted.update(value.id for value in event.inputs if value.id not in sources)
    return kept[::-1]


def phased(events: Sequence[OpEvent], part: Parts, rules: JaxRules) -> tuple[OpEvent, ...]:
    """The events with what only the derivative needed marked as backward, wherever it was computed.

    JAX computes the slopes that the backward pass multiplies with beside the values of the function.
    """
    wanted = {value.id for value in _function(part, rules)}
    marked = []
    for event in reversed(events):
        is_forward = gives(event, wanted)
        if is_forward:
            wanted.update(value.id for value in event.inputs)
        marked.append(event if is_forward == (event.phase == "forward") else _moved(event, is_forward))
    return tuple(marked[::-1])


def _function(part: Parts, rules: JaxRules) -> list[Value]:
    """What the function computed, whether or not the target is made of it: numbers that Python read, and the results of
    functions of which the derivative alone went on."""
    scoped = (value for scope in rules.scopes for value in scope.outputs)
    inner = (value for call in rules.inner for value in call.targets if value is not None)
    return [*part.targets, *(one.value for one in part.exits), *scoped, *inner]


def _moved(event: OpEvent, is_forward: bool) -> OpEvent:
    return replace(event, phase="forward" if is_forward else "backward")

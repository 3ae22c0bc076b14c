"""From what the hooks noted to the record of a gradient call, and on to its captures."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from jax._src import core

from gradproof.errors import GradproofError
from gradproof.frontends.assemble.captures import to_captures
from gradproof.frontends.assemble.unread import unread
from gradproof.frontends.jax.lower.library import region_of
from gradproof.frontends.jax.observe.effects import require_own_arrays
from gradproof.frontends.jax.observe.notes import Ending, JaxExit
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.trace import JaxEvent, numbers
from gradproof.frontends.jax.read.bare import as_observed, bare_call, names_of_sources, names_of_targets
from gradproof.frontends.jax.read.devices import is_mapped, total_of
from gradproof.frontends.jax.read.flow import given_results, needed_for, phased
from gradproof.frontends.jax.read.inside import Inside
from gradproof.frontends.jax.read.interpret import PLAIN_NUMBERS, JaxprInterpreter, SeenEnough
from gradproof.frontends.jax.read.odd import is_odd
from gradproof.frontends.jax.read.parts import Parts
from gradproof.frontends.jax.read.regions import with_regions
from gradproof.frontends.jax.read.replay import Find, replayed
from gradproof.frontends.jax.read.rules import (
    JaxRules,
    attributed,
    is_users_own,
    require_seen,
    rules_of,
)
from gradproof.frontends.jax.read.values import MUTABLE, Values
from gradproof.frontends.jax.read.views import JaxView, views
from gradproof.frontends.jax.read.where import Where
from gradproof.frontends.jax.read.whole import with_whole
from gradproof.frontends.record.model import (
    RETURN_OP,
    Exit,
    GradientCall,
    Operand,
    OpEvent,
    Phase,
    Value,
)
from gradproof.frontends.record.source import spans_of
from gradproof.ir.capture import Capture

MOST_TURNS = 1  # of a loop that computes gradients, the first turns are looked at
FAULT = "gradproof failed to read this gradient; please report it with this trace"


def captures_of(ending: Ending) -> list[Capture]:
    """Where a gradient looks odd, or a rule of the user's took part, the backward pass is run again step by step."""
    try:
        found = _captures(ending, is_replayed=False)
    except Exception as error:  # an internal fault must not break the user's run: it becomes a stated reason
        return [unread_of(ending, f"{FAULT} ({error!r}): " + traceback.format_exc(limit=-3))]
    # Many pullbacks at once are no rule alone.
    is_batched = any(one.batch_axes for one in (*ending.of.sources, *ending.weights))
    is_plain = not (ending.is_forward or ending.is_heard or is_batched or is_mapped(ending.linear))
    if not is_plain or not (any(map(is_odd, found)) or any(map(is_users_own, ending.of.pieces))):
        return found
    try:
        return _captures(ending, is_replayed=True)
    except Exception:  # the rules cannot be looked at one by one, and the verdict stands without them
        fault = traceback.format_exc(limit=-3)
        return [replace(one, faults=(*one.faults, fault)) for one in found]


def _captures(ending: Ending, is_replayed: bool) -> list[Capture]:
    return [capture for call in calls_of(ending, is_replayed) for capture in to_captures(call)]


def unread_of(ending: Ending, reason: str) -> Capture:
    return unread(bare_call(ending), reason)


def calls_of(ending: Ending, is_replayed: bool = False) -> list[GradientCall]:
    """Everything about one gradient call: one record for each way of looking at it that its results need."""
    bare = bare_call(ending)
    try:
        made = (
            _heard(ending, is_replayed)
            if ending.execution is None or ending.is_heard
            else _run_again(ending, is_replayed)
        )
        return [_call(ending, bare, view, rules) for part, rules in made for view in views(ending, part)]
    except GradproofError as error:
        return [replace(bare, doubt=str(error))]


def _heard(ending: Ending, is_replayed: bool) -> list[tuple[Parts, JaxRules]]:
    """An eager call: every primitive was seen with its numbers."""
    if ending.of.unheard is not None:
        raise GradproofError(PLAIN_NUMBERS.format(name=ending.of.unheard))
    values = Values()
    run = JaxprInterpreter(values, Inside(folded=ending.of.folded))
    sources, targets, weights, results = (
        tuple(values.of(one.value) for one in group) for group in _ends(ending)
    )
    exits = add_events(run, ending.of.forward.events, "forward", ending.of.exits)
    add_events(run, ending.backward.events, "backward")
    part = Parts(sources, targets, weights, results, run.events, exits)
    return [_with_rules(ending, run, part, lambda one: one.value, is_replayed)]


def _with_rules(
    ending: Ending, run: JaxprInterpreter, part: Parts, find: Find, is_replayed: bool
) -> tuple[Parts, JaxRules]:
    replay = replayed(ending, find) if is_replayed else None
    if replay is not None:
        add_events(run, replay.forward, "forward")
        add_events(run, replay.events, "backward")
        results = tuple(
            value if array is None else _joined(run, run.values.of(array), value)
            for array, value in zip(replay.results, part.results, strict=True)
        )
        part = replace(part, results=results)
    rules = rules_of(ending, run, find, replay)
    require_seen(run.events, rules, run.values.array)

    def value(one: Bottom) -> Value:
        return run.values.of(find(one))

    return part, with_whole(ending, run, part.targets, rules, value)


def _joined(run: JaxprInterpreter, again: Value, returned: Value) -> Value:
    """The gradient that was returned, as the end of the backward pass that was run again."""
    result = run.values.new(run.values.array(returned))
    run.emit(RETURN_OP, [again], [result], {}, Where((), "backward"))
    return result


def _ends(ending: Ending) -> tuple[tuple[Bottom, ...], ...]:
    return ending.of.sources, ending.of.targets, ending.weights, ending.results


def _run_again(ending: Ending, is_replayed: bool) -> list[tuple[Parts, JaxRules]]:
    """A call inside a compiled function: its jaxpr is run op by op on the same arguments."""
    execution = ending.execution
    assert execution is not None
    require_own_arrays(execution.inputs)
    values = Values()
    awaited = frozenset(one.value for group in _ends(ending) for one in group if one.is_staged)
    run = JaxprInterpreter(values, Inside.around(ending), awaited)
    where = Where(spans_of(execution.places), "forward", call=ending.id)
    inputs = [values.of(_as_array(x, aval)) for x, aval in zip(execution.inputs, execution.jaxpr.in_avals)]
    with suppress(SeenEnough):
        run.run_whole(execution.jaxpr, inputs, where)
    turns = max((len(run.seen.get(one.value, ())) for one in ending.results if one.is_staged), default=1)
    if not turns:
        return []  # it stands in a branch that was not taken, and nothing was computed
    ends = zip(execution.jaxpr.jaxpr.outvars, execution.outputs)
    returned = {var: array for var, array in ends if not isinstance(var, core.Literal)}
    found = []
    for turn in range(min(turns, MOST_TURNS)):
        sources, targets, weights, results = (
            tuple(_seen(run, one, turn) for one in group) for group in _ends(ending)
        )
        targets = total_of(run, ending, targets, where)
        own = tuple(
            _as_returned(run, one, value, returned, where) for one, value in zip(ending.results, results)
        )
        part = Parts(sources, targets, weights, own, run.events)
        find = partial(lambda turn, one: run.values.array(_seen(run, one, turn)), turn)
        found.append(_with_rules(ending, run, part, find, is_replayed))
    return found


def _as_array(x: Any, aval: Any) -> Any:
    """Numbers of Python's become arrays when a compiled function is given them; arrays can be told apart."""
    return np.asarray(x, dtype=aval.dtype) if isinstance(x, bool | int | float | complex) else x


def _as_returned(run: JaxprInterpreter, one: Bottom, value: Value, returned: Any, where: Where) -> Value:
    """A gradient as the user's own compiled run returned it, where that is among its results."""
    if not one.is_staged or one.value not in returned:
        return value
    array = run.values.new(returned[one.value])
    run.emit(RETURN_OP, [value], [array], {}, where)
    return array


def _seen(run: JaxprInterpreter, one: Bottom, turn: int) -> Value:
    if not one.is_staged:
        value = run.values.of(one.value)
        return run.twins.get(value.id, value)
    values = run.seen.get(one.value)
    if not values:
        raise GradproofError("a part of this gradient is not in the jaxpr that was run")
    value = values[min(turn, len(values) - 1)]
    return run.twins.get(value.id, value)


def _call(ending: Ending, bare: GradientCall, view: JaxView, rules: JaxRules) -> GradientCall:
    part = view.part
    sources, targets = names_of_sources(ending), names_of_targets(ending)
    return replace(
        bare,
        api=view.api,
        sources=tuple(
            Operand(sources[k], value) for k, value in zip(view.sources, part.sources, strict=True)
        ),
        targets=tuple(
            Operand(targets[k], value) for k, value in zip(view.targets, part.targets, strict=True)
        ),
        observed=tuple(map(as_observed(ending), part.results)),
        output_gradients=None if view.api != "gradient" else part.weights,
        tangents=part.weights if view.api == "jvp" else None,
        events=attributed(_ordered(part, rules), rules),
        scopes=rules.scopes,
        pullbacks=rules.pullbacks,
        inner=rules.inner,
        leaves=part.exits,
    )


def _ordered(part: Parts, rules: JaxRules) -> tuple[OpEvent, ...]:
    events = needed_for(with_regions([*part.events, *given_results(part)], part.sources), part, rules)
    if any(value.unknown == MUTABLE for event in events for value in event.inputs):
        raise GradproofError(MUTABLE)
    return phased(events, part, rules)


def add_events(
    run: JaxprInterpreter, events: Iterable[JaxEvent], phase: Phase, exits: Iterable[JaxExit] = ()
) -> tuple[Exit, ...]:
    """What was executed, with the bodies of calls run again op by op; and what Python read in between."""
    pending, found = list(exits), []
    for event in events:
        while pending and pending[0].index < event.index:
            found.append(_exit(run, pending.pop(0)))
        where = Where(
            spans_of(event.places),
            phase,
            within=event.within,
            is_transposed=phase == "backward" or "transpose" in event.stack,
            region=region_of(event.codes),
        )
        inputs = [run.values.of(array) for array in event.inputs]
        run.execute(event.primitive, event.params, inputs, event.outputs, where)
    return (*found, *(_exit(run, one) for one in pending))


def _exit(run: JaxprInterpreter, one: JaxExit) -> Exit:
    spans = spans_of(one.places)
    return Exit(next(numbers), one.how, run.values.of(one.value), spans[0] if spans else None, (), spans)

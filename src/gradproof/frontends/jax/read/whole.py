"""A gradient inside of the function that is differentiated, taken as one rule written by hand.

The next derivative is meant to be that of the derivative which the rules inside stand for. What a forward rule was
given and returned is known nowhere, as JAX transposes it step by step, nor what a reverse rule was given under a `vmap`
over weights alone, as in a Jacobian. But what came into the whole gradient and out of it is known, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.notes import Ending, JaxPiece
from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.jax.read.arrange import Labels, Stretch, arrangement, labels_of, levels_in
from gradproof.frontends.jax.read.interpret import JaxprInterpreter
from gradproof.frontends.jax.read.parts import arranged, made_event, numbers_of
from gradproof.frontends.jax.read.rules import JaxRules, as_used, behind, is_alike, is_users_own, scope_of
from gradproof.frontends.jax.read.values import plain_value
from gradproof.frontends.jax.read.where import written
from gradproof.frontends.record.model import CustomScope, OpEvent, RuleRun, Value
from gradproof.frontends.record.source import is_users
from gradproof.ir import types
from gradproof.ir.span import Span

MOST_ROWS = 16  # of a Jacobian inside, each of which is a gradient of its own to be proven
STOPPED = (
    "the rule of `{name}` makes a constant of a part by `stop_gradient`; what a forward rule with such a part should "
    "return in a second derivative is not known here"
)
Find = Callable[[Any], Value | None]


def with_whole(
    ending: Ending, run: JaxprInterpreter, targets: Sequence[Value], rules: JaxRules, find: Find
) -> JaxRules:
    """The rules with the gradients inside that are taken as a whole; raises where a stop leaves one unknown."""
    stopped = _stopped(ending, run.events, targets)
    for one in ending.of.inner:
        held = next((piece for piece in one.of.pieces if id(piece.rule) in stopped), None)
        piece = held or next((piece for piece in one.of.pieces if _is_out_of_sight(piece, one)), None)
        rows = None if piece is None else _rows(one, run, find)
        if piece is None or rows is None:
            continue
        for other in one.of.pieces:
            stopped.pop(id(other.rule), None)
        reason = None if held is None else STOPPED.format(name=held.name)
        rules = _with_rows(rules, replace(scope_of(piece, find), unless_exact=reason), rows)
    if stopped:
        raise GradproofError(STOPPED.format(name=next(iter(stopped.values()))))
    return rules


def _stopped(ending: Ending, events: Sequence[OpEvent], targets: Sequence[Value]) -> dict[int, str]:
    """The forward rules that a derivative inside applied and that stop gradients, with the names of their functions."""
    pieces = (piece for one in ending.of.inner for piece in one.of.pieces if piece.kind == "custom_jvp")
    applied = [*ending.of.rules_inside, *((piece.function, piece.rule) for piece in pieces)]
    if not applied:
        return {}
    makers = {value.id: k for k, event in enumerate(events) for value in event.outputs}
    stops = [
        event
        for event in map(events.__getitem__, behind(events, makers, targets, set()))
        if event.op == "stop_gradient"
    ]
    found = {}
    for function, rule in applied if stops else ():
        defined, place = written(function), written(rule)
        is_own = defined is not None and is_users(defined.file)
        if is_own and place is not None and any(_is_inside(event, place) for event in stops):
            found[id(rule)] = str(function.func_name)
    return found


def _is_inside(event: OpEvent, rule: Span) -> bool:
    """Of a rule that JAX has put together, as `defjvps` does, the parts are not known: it may be in any of them."""
    own = rule.file, _last(rule.function)
    return not is_users(rule.file) or any((one.file, _last(one.function)) == own for one in event.stack)


def _last(name: str | None) -> str:
    """A function's own name, without those that it is defined in."""
    return (name or "").rpartition(".")[2]


def _is_out_of_sight(piece: JaxPiece, ending: Ending) -> bool:
    """A reverse rule of the user's whose applications are not known one by one."""
    runs = [run for run in ending.rules if run.piece == piece.id]
    return (
        piece.kind == "custom_vjp"
        and is_users_own(piece)
        and any(not is_alike(run.upstream, piece.outputs) for run in runs)
    )


@dataclass(frozen=True)
class _Row:
    """One gradient: what came in for each target, and what came out for each source."""

    sources: tuple[Value, ...]
    targets: tuple[Value, ...]
    weights: tuple[Value, ...]
    results: tuple[Value, ...]


def _with_rows(rules: JaxRules, scope: CustomScope, rows: Iterable[_Row]) -> JaxRules:
    scopes, pullbacks = [*rules.scopes], [*rules.pullbacks]
    for row in rows:
        own = replace(scope, id=next(numbers), kind="whole", inputs=row.sources, outputs=row.targets)
        scopes.append(own)
        pullbacks.append(RuleRun(next(numbers), own.name, None, own.id, None, row.weights, row.results))
    return replace(rules, scopes=tuple(scopes), pullbacks=tuple(pullbacks))


def _rows(ending: Ending, run: JaxprInterpreter, find: Find) -> list[_Row] | None:
    """The gradients that a pullback computed: one, or several by a `vmap` over its weights; None where they cannot be
    told apart."""
    groups = (ending.of.sources, ending.of.targets, ending.weights, ending.results)
    values = [[find(one) for one in group] for group in groups]
    known = [[one for one in group if one is not None and _is_real(one)] for group in values]
    if [*map(len, known)] != [*map(len, values)]:
        return None
    labels = [tuple(map(labels_of, group, own)) for group, own in zip(groups, known)]
    around = {level for own in labels[1] for level in levels_in(own)}
    levels = {level for own in labels[2] for level in levels_in(own)} - around
    if len(levels) > 1:
        return None
    known[2] = [as_used(one, run) or one for one in known[2]]
    sources, targets, weights, results = (tuple(map(_Labelled, *pair)) for pair in zip(known, labels))
    level = next(iter(levels), None)
    n = next((one.length(level) for one in weights if level in one.labels), 1)
    try:
        return None if n > MOST_ROWS else _told_apart(run, (sources, targets, weights, results), level, n)
    except GradproofError:  # the axes of what `vmap` has made do not fit each other
        return None


def _is_real(value: Value) -> bool:
    return value.array is not None and not types.is_complex(value.dtype)


@dataclass(frozen=True)
class _Labelled:
    """A value and the labels of its axes."""

    value: Value
    labels: Labels

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape or ()

    def length(self, level: Hashable) -> int:
        return self.shape[self.labels.index(level)]


Ends = tuple[tuple[_Labelled, ...], ...]
"""Sources, targets, weights and results of a pullback."""


def _told_apart(run: JaxprInterpreter, ends: Ends, level: Hashable, n: int) -> list[_Row] | None:
    """Every row on its own; what many rows returned at once is then what joins them."""
    sources, targets, weights, results = ends
    events: list[OpEvent] = []
    ups = [_in_row(weights, targets, level, k, events) for k in range(n)]
    outs = [tuple(one.value for one in results)]
    raw: dict[int, Value] = {}
    if level is not None:
        raw = {one.value.id: plain_value(numbers_of(one.value)) for one in results}
        whole = tuple(replace(one, value=raw[one.value.id]) for one in results)
        outs = [_in_row(whole, sources, level, k, events) for k in range(n)]
        for j, (one, own) in enumerate(zip(results, sources, strict=True)):
            _join([replace(own, value=row[j]) for row in outs], level, one, events)
    elif any((one.labels, one.shape) != (own.labels, own.shape) for one, own in zip(results, sources)):
        return None
    if events and not _put(run, events, [one.value for one in results], raw):
        return None
    ends_of_all = (tuple(one.value for one in group) for group in (sources, targets))
    given, made = ends_of_all
    return [_Row(given, made, up, out) for up, out in zip(ups, outs)]


def _in_row(
    group: Sequence[_Labelled], like: Sequence[_Labelled], level: Hashable, k: int, events: list[OpEvent]
) -> tuple[Value, ...]:
    """Of each in the group one row, in the shape of what it belongs to."""
    found = []
    for one, other in zip(group, like, strict=True):
        if (one.labels, one.shape) == (other.labels, other.shape):
            found.append(one.value)
            continue
        cut = Stretch(one.labels.index(level), k, k + 1, ()) if level in one.labels else None
        events.append(arranged(one.value, arrangement(one.labels, other.labels, other.shape, cut)))
        found.append(events[-1].outputs[0])
    return tuple(found)


def _join(rows: Sequence[_Labelled], level: Hashable, whole: _Labelled, events: list[OpEvent]) -> None:
    """What was returned for all rows, made of the rows."""
    labels, lifted = (level, *rows[0].labels), []
    for row in rows:
        lifted.append(arranged(row.value, arrangement(row.labels, labels, (1, *row.shape))))
    events += lifted
    parts = [event.outputs[0] for event in lifted]
    array = np.concatenate([numbers_of(one) for one in parts])
    events.append(made_event("concatenate", parts, [plain_value(array)], {"dimension": 0}))
    (joined,) = events[-1].outputs
    how = arrangement(labels, whole.labels, whole.shape)
    events.append(made_event("gradproof.arranged", [joined], [whole.value], {"how": how}))


def _put(
    run: JaxprInterpreter, events: list[OpEvent], results: Sequence[Value], raw: dict[int, Value]
) -> bool:
    """The events behind those that made the results, which put out the `raw` ones instead; not where a result was
    used before all of them were there."""
    ids = {one.id for one in results}
    places = [k for k, event in enumerate(run.events) if any(one.id in ids for one in event.outputs)]
    made = {one.id for k in places for one in run.events[k].outputs}
    if not places or (raw and not ids <= made):
        return False
    first, last = places[0], places[-1]
    if any(one.id in ids for event in run.events[first : last + 1] for one in event.inputs):
        return False
    for k in places if raw else ():
        outputs = tuple(raw.get(one.id, one) for one in run.events[k].outputs)
        run.events[k] = replace(run.events[k], outputs=outputs)
    index = run.events[last].index  # what is computed from the results comes later
    run.events[last + 1 : last + 1] = [replace(event, index=index) for event in events]
    return True

"""The rules of a gradient call in the neutral record: those of JAX's own steps, and those that are written by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jax._src.literals import TypedFloat

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.notes import Ending, JaxPiece
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.jax.read.interpret import PLAIN_NUMBERS, JaxprInterpreter
from gradproof.frontends.jax.read.opened import is_users_body
from gradproof.frontends.jax.read.replay import Find, JaxReplay
from gradproof.frontends.jax.read.where import written
from gradproof.frontends.record.model import CustomScope, InnerCall, OpEvent, RuleRun, Value
from gradproof.frontends.record.rule_lines import returned_by
from gradproof.frontends.record.source import is_users, spans_of
from gradproof.ir import types

CUSTOM = ("custom_jvp", "custom_vjp")


@dataclass(frozen=True)
class JaxRules:
    """What a gradient call applied."""

    scopes: tuple[CustomScope, ...] = ()
    pullbacks: tuple[RuleRun, ...] = ()
    inner: tuple[InnerCall, ...] = ()


def rules_of(ending: Ending, run: JaxprInterpreter, find: Find, replay: JaxReplay | None) -> JaxRules:
    """Without a replay only the hand-written reverse rules are known by what they were given and returned."""

    def value(one: Any) -> Value | None:
        return None if one is None else run.values.of(find(one))

    # A gradient of a gradient: what the inner one applied is a part of the function.
    opened = () if replay is None else replay.opened
    calls = (ending, *opened, *ending.of.inner)
    pieces = [piece for one in calls for piece in one.of.pieces]
    scopes = tuple(scope_of(piece, value) for piece in pieces if piece.kind in CUSTOM)
    pullbacks = []
    by_id = {piece.id: piece for piece in pieces}
    summed = {one.piece.id: one.results for one in (() if replay is None else replay.applied)}
    for rule in (rule for one in calls for rule in one.rules):
        if not is_alike(rule.upstream, by_id[rule.piece].outputs):
            continue
        given = tuple(as_used(value(one), run) for one in rule.upstream)
        returned = tuple(map(value, rule.results))
        if len(returned) != len(by_id[rule.piece].inputs):  # what it was handed twice is one input of it
            if rule.piece not in summed:
                continue
            sums = summed[rule.piece]
            returned = tuple(None if array is None else run.values.of(array) for array in sums)
        if any(one is not None and types.is_complex(one.dtype) for one in (*given, *returned)):
            continue  # JAX's gradients of complex numbers are the conjugates of those that the judge speaks of
        pullbacks.append(RuleRun(rule.id, by_id[rule.piece].name, None, rule.piece, None, given, returned))
    for piece in (piece for one in (ending, *opened) for piece in one.of.pieces if replay is not None):
        if not piece.tangents_out:  # JAX, or a rule written by hand, has made a constant of it
            nothing = (None,) * len(piece.inputs)
            pullbacks.append(_pullback(piece, (None,) * len(piece.outputs), nothing, run, value))
    for one in () if replay is None else replay.applied:
        if one.piece.kind != "custom_vjp":
            pullbacks.append(_pullback(one.piece, one.upstream, one.results, run, value))
    inner = (_inner_call(one, value) for one in ending.of.inner)
    return JaxRules(scopes, tuple(pullbacks), tuple(one for one in inner if one is not None))


def _inner_call(ending: Ending, value: Callable[[Any], Value | None]) -> InnerCall | None:
    """A gradient inside the function; None where JAX has written the compiled function that it stands in anew."""
    groups = (ending.of.targets, ending.weights, ending.results)
    try:
        return InnerCall(ending.asked.api, *(tuple(map(value, group)) for group in groups))
    except GradproofError:
        return None


def as_used(given: Value | None, run: JaxprInterpreter) -> Value | None:
    """A weight that is a plain number, as in `pullback(1.0)`: JAX makes its own of it where a rule uses it."""
    number = None if given is None else run.values.array(given)
    if type(number) is not float:
        return given
    made = {value.id for event in run.events for value in event.outputs}
    used = (value for event in run.events if event.phase == "backward" for value in event.inputs)
    fitting = (one for one in used if one.id not in made and type(run.values.array(one)) is TypedFloat)
    return next((one for one in fitting if run.values.array(one) == number), given)


def is_alike(upstream: Sequence[Bottom | None], outputs: Sequence[Bottom]) -> bool:
    """Whether what came in has the axes of `vmap` that the outputs have: else it is no number for each of them."""
    return len(upstream) == len(outputs) and all(
        up is None or up.batch_axes == out.batch_axes for up, out in zip(upstream, outputs)
    )


def _pullback(
    piece: JaxPiece, upstream: Sequence[Any], results: Sequence[Any], run: JaxprInterpreter, value: Any
) -> RuleRun:
    spans = spans_of(piece.places)
    return RuleRun(
        next(numbers),
        piece.name,
        None,
        piece.id if piece.kind in CUSTOM else None,
        None,
        tuple(None if array is None else run.values.of(array) for array in upstream),
        tuple(None if array is None else run.values.of(array) for array in results),
        piece=None
        if piece.kind in CUSTOM or not is_small(piece)
        else (tuple(map(value, piece.inputs)), tuple(map(value, piece.outputs)), spans[0] if spans else None),
    )


def is_small(piece: JaxPiece) -> bool:
    """Whether a step is one of JAX's own functions: one that runs functions of the user's has many rules inside."""
    return piece.body is None or not is_users_body(piece.body.primitive, piece.body.params)


def scope_of(piece: JaxPiece, value: Any) -> CustomScope:
    spans = spans_of(piece.places)
    defined, rule = written(piece.function), written(piece.rule)
    if rule is not None and defined is not None and is_users(defined.file) and not is_users(rule.file):
        rule = None  # one that JAX has put together, as `defjvps` does: the lines of its parts tell where it stands
    elif rule is not None and is_users(rule.file):
        rule = returned_by(rule.file, rule.function, rule.line)
    library = None if defined is None or is_users(defined.file) else _package(defined.file)
    return CustomScope(
        id=piece.id,
        name=piece.name,
        kind="custom_gradient",
        parent=None,
        span=spans[0] if spans else None,
        definition=defined,
        inputs=tuple(map(value, piece.inputs)),
        outputs=tuple(map(value, piece.outputs)),
        rule=rule,
        library=library,
    )


def is_users_own(piece: JaxPiece) -> bool:
    """A function with a hand-written derivative in the user's own files."""
    defined = written(piece.function) if piece.kind in CUSTOM else None
    return defined is not None and is_users(defined.file)


def _package(file: str) -> str:
    parts = re.split(r"[\\/]", file)
    marks = [k for k, part in enumerate(parts) if part in ("site-packages", "dist-packages")]
    return parts[marks[-1] + 1] if marks else parts[-1].removesuffix(".py")


def attributed(events: Sequence[OpEvent], rules: JaxRules) -> tuple[OpEvent, ...]:
    """The events with the hand-written function or rule that they belong to, as the flow of the numbers tells."""
    use_of: dict[int, int] = {}
    rule_of: dict[int, int] = {}
    makers = {value.id: k for k, event in enumerate(events) for value in event.outputs}
    for scope in rules.scopes:
        ends = {value.id for value in scope.inputs}
        for k in behind(events, makers, scope.outputs, ends, "forward"):
            use_of[k] = scope.id
    for rule in rules.pullbacks:
        ends = {value.id for value in rule.upstream if value is not None}
        for k in behind(events, makers, rule.results, ends, "backward"):
            rule_of.setdefault(k, rule.id)
            if rule.scope is not None:
                use_of.setdefault(k, rule.scope)
    return tuple(
        replace(event, scope=use_of.get(k), pullback=rule_of.get(k)) if k in use_of or k in rule_of else event
        for k, event in enumerate(events)
    )


def require_seen(events: Sequence[OpEvent], rules: JaxRules, array_of: Callable[[Value], Any]) -> None:
    """JAX hands a Python number to a hand-written function as it is, and what Python computes nobody sees."""
    makers = {value.id: k for k, event in enumerate(events) for value in event.outputs}
    for scope in rules.scopes:
        given = [value for value in scope.inputs if isinstance(array_of(value), float | complex)]
        if not given or scope.library == "jax":  # JAX itself computes with primitives only
            continue
        led = [events[k] for k in behind(events, makers, scope.outputs, set(), "forward")]
        read = {value.id for event in led for value in event.inputs} | {value.id for value in scope.outputs}
        if any(value.id not in read for value in given):
            raise GradproofError(PLAIN_NUMBERS.format(name=scope.name))


def behind(
    events: Sequence[OpEvent],
    makers: dict[int, int],
    values: Iterable[Value | None],
    ends: set[int],
    phase: str | None = None,
) -> Iterable[int]:
    """The events, of one phase if it is named, that lead to some values, not beyond `ends`."""
    pending = [value.id for value in values if value is not None and value.id not in ends]
    seen: set[int] = set()
    while pending:
        k = makers.get(pending.pop())
        if k is not None and k not in seen and phase in (None, events[k].phase):
            seen.add(k)
            pending += [value.id for value in events[k].inputs if value.id not in ends]
    return seen

"""The rules that a gradient call applied, by the nodes of its program: those of ops and those of custom gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.program import Assembly
from gradproof.frontends.record import model as recording
from gradproof.frontends.record.model import NOT_COMPUTED, CustomScope, Value
from gradproof.ir.capture import Inner, Pullback, Scope
from gradproof.ir.program import Program, ancestors

# A read has nothing to differentiate, and what a Python function ran has rules of its own.
_WITHOUT_RULE = ("read", "leave")
WHOLE = "whole"
FEW = 4  # applications of a rule that are looked at, the first and the last; a Jacobian has one per row


def know_ends(made: Assembly) -> None:
    """What no op knows: an upstream gradient that a custom rule did not use, a result that it computed in Python."""
    made.m.place(None, "backward", None)
    for pullback in made.call.pullbacks:
        if pullback.scope is not None:
            for value in (*pullback.upstream, *pullback.results):
                if value is not None:
                    made.tensor(value)


def pullbacks_of(made: Assembly, whole: Program) -> Iterator[Pullback]:
    """The applications of the framework's own rules that are known in full."""
    events = {event.index: event for event in (*made.call.older, *made.call.events)}
    known = {node.id for node in whole.nodes}
    for pullback in made.call.pullbacks:
        event = None if pullback.forward is None else events.get(pullback.forward)
        if event is not None and made.dialect.role(event) not in _WITHOUT_RULE:
            piece = event.inputs, event.outputs, event.span
        elif pullback.piece is not None:
            piece = pullback.piece
        else:
            continue
        if not _are_dense(made, pullback.results):
            continue
        inputs, outputs = ids_of(made, piece[0]), ids_of(made, piece[1])
        if None in outputs or None in inputs or not set(outputs) <= known:
            continue
        upstream, results = ids_of(made, pullback.upstream), ids_of(made, pullback.results)
        op = pullback.op if event is None else made.dialect.spelled(event.op)
        yield Pullback(op, inputs, outputs, upstream, results, piece[2])  # type: ignore[arg-type]


def _are_dense(made: Assembly, values: Iterable[Value | None]) -> bool:
    """A gradient that consists of some rows of a tensor has the shape of the tensor, its node that of the rows."""
    nodes = ((value, made.nodes.get(value.id)) for value in values if value is not None)
    return all(not isinstance(node, Traced) or value.shape in (None, node.shape) for value, node in nodes)


def ids_of(made: Assembly, values: Iterable[Value | None]) -> tuple[int | None, ...]:
    """The nodes of tensors; None for those that are not known."""
    return tuple(None if value is None else getattr(made.nodes.get(value.id), "id", None) for value in values)


def scopes_of(made: Assembly, whole: Program, are_wholes: bool = False) -> Iterator[Scope]:
    """The custom gradients, each once per application of its rule, or once if its rule did not run; or the gradients
    inside that stand for some.

    A rule runs more than once where an inner tape asks for a gradient that an outer one differentiates.
    """
    matches = _matches(made, whole)
    for scope in made.call.scopes:
        if (scope.kind == WHOLE) is not are_wholes:
            continue
        applied = [rule for rule in made.call.pullbacks if matches.get(rule.id) == scope.id]
        if not applied:
            yield _scope(made, scope, None)
        for rule in applied if len(applied) <= 2 * FEW else (*applied[:FEW], *applied[-FEW:]):
            yield _scope(made, scope, rule)


def _matches(made: Assembly, whole: Program) -> dict[int, int | None]:
    """Which use of a custom gradient each application of a rule belongs to.

    A rule in the body of a loop runs once per turn, and so did its forward, the last turn first. What a rule reads
    tells the same, where it reads anything of its forward's; None where the two do not agree.
    """
    found = {rule.id: rule.scope for rule in made.call.pullbacks}
    uses: dict[object, list[CustomScope]] = {}
    for scope in made.call.scopes:
        if scope.kind != WHOLE:
            uses.setdefault((scope.name, scope.span, scope.definition), []).append(scope)
    for same in uses.values():
        is_heard = all(one.mode == "parts" for one in made.call.calls)
        if len(same) == 1 or (made.call.mode in ("eager", "parts") and is_heard):
            continue  # a rule that was heard knows its forward
        of = {scope.id: _belonging(made, whole, scope) for scope in same}
        for turn, rule in enumerate(rule for rule in made.call.pullbacks if rule.scope in of):
            read = _read(made, whole, rule)
            close = [id for id, nodes in of.items() if read & nodes]
            expected = same[-1 - turn % len(same)].id
            found[rule.id] = (
                expected if expected in close or not read else close[0] if len(close) == 1 else None
            )
    return found


def _belonging(made: Assembly, whole: Program, scope: CustomScope) -> set[int]:
    """The nodes that belong to one use: its inputs, what it computed, and its results."""
    values = [*scope.inputs, *scope.outputs]
    values += [value for event in made.call.events if event.scope == scope.id for value in event.outputs]
    return _origins(made, whole, values)


def _read(made: Assembly, whole: Program, rule: recording.RuleRun) -> set[int]:
    """The nodes that the ops of a rule were given, its upstream gradient and what it made itself apart."""
    events = [event for event in made.call.events if event.pullback == rule.id]
    own = {value.id for event in events for value in event.outputs}
    own |= {value.id for value in rule.upstream if value is not None}
    return _origins(made, whole, [v for event in events for v in event.inputs if v.id not in own])


def _origins(made: Assembly, whole: Program, values: Iterable[Value]) -> set[int]:
    """The nodes behind copies; constants belong to nobody."""
    found = set()
    for id in ids_of(made, values):
        while id is not None and whole[id].op == "identity":
            id = whole[id].inputs[0]
        if id is not None and whole[id].op != "constant":
            found.add(id)
    return found


def _scope(made: Assembly, scope: CustomScope, rule: recording.RuleRun | None) -> Scope:
    own = [event for event in made.call.events if rule is not None and event.pullback == rule.id]
    # Forward mode runs functions of TensorFlow's in between, whose lines are those of their first use.
    rule_at = next((event.span for event in sorted(own, key=lambda event: event.call is not None)), None)
    upstream = () if rule is None else tuple(id for id in ids_of(made, rule.upstream) if id is not None)
    inputs, results = ids_of(made, scope.inputs), () if rule is None else tuple(rule.results)
    if len(results) >= len(
        inputs
    ):  # a plain number among the arguments is no node, nor is there a gradient for it
        results = tuple(r for k, r in enumerate(results) if k >= len(inputs) or inputs[k] is not None)
    return Scope(
        id=scope.id,
        name=scope.name,
        inputs=tuple(id for id in inputs if id is not None),
        outputs=tuple(id for id in ids_of(made, scope.outputs) if id is not None),
        upstream=None if rule is None else upstream,
        results=None if rule is None else ids_of(made, results),
        used_at=scope.span,
        defined_at=scope.definition,
        rule_at=rule_at or scope.rule,
        complaint=None if rule is None else rule.exception,
        is_upstream_idle=rule is not None and _is_idle(rule.upstream),
        library=scope.library,
        left=tuple(id for id in ids_of(made, scope.left) if id is not None),
        nothing_for=tuple(k for k, one in enumerate(results) if one is None),
        unless_exact=scope.unless_exact,
    )


def _is_idle(values: Sequence[Value | None]) -> bool:
    """Whether nothing that ran needed these tensors."""
    known = [value for value in values if value is not None]
    return bool(known) and all(value.unknown == NOT_COMPUTED for value in known)


def inner_of(made: Assembly, program: Program) -> Iterator[Inner]:
    """The gradient calls from whose results the target of this one was computed."""
    inside = ancestors(program, program.outputs)
    for call in made.call.inner:
        targets, results = ids_of(made, call.targets), ids_of(made, call.results)
        known = tuple(id for id in targets if id is not None)
        if known and len(known) == len(targets) and inside.intersection(results):
            yield Inner(known, ids_of(made, call.weights), results, "jacobian" in call.api)


def hidden_stops(made: Assembly, whole: Program) -> dict[int, str]:
    """The nodes of every `stop_gradient` that a library's function put into the program, with that function."""
    found = {}
    for event in (*made.call.older, *made.call.events):
        (id,) = ids_of(made, event.outputs[:1]) if event.hidden_in is not None else (None,)
        while id is not None and whole[id].op == "identity":
            id = whole[id].inputs[0]
        if id is not None and event.hidden_in is not None and whole[id].op == "stop_gradient":
            found[id] = event.hidden_in
    return found

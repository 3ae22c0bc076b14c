"""Raw events to frozen ones, with every function call taken apart into the ops of its graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from gradproof.frontends.tensorflow.functions import Expansion, FunctionRun, expand
from gradproof.frontends.tensorflow.interpret import Frame, Step
from gradproof.frontends.tensorflow.recorder import RawEvent, RawPullback, RawScope, numbers
from gradproof.frontends.tensorflow.recording import (
    RETURN_OP,
    CustomScope,
    FunctionCall,
    OpEvent,
    Phase,
    Pullback,
    Value,
)
from gradproof.frontends.tensorflow.source import span_of, spans_of
from gradproof.frontends.tensorflow.traced import TracedRule, TracedScope, Traces
from gradproof.frontends.tensorflow.values import (
    Unknown,
    attr_value,
    optional_value_of,
    plain_attrs,
    value_of,
)
from gradproof.ir.span import Span

PhaseOf = Callable[[Step], Phase]


@dataclass(eq=False)
class Program:
    """The frozen events of one gradient call while they are put together.

    An event's index is its place in `events`. `places` leads from the number a raw event had to that.
    """

    traces: Traces
    events: list[OpEvent] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    scopes: list[CustomScope] = field(default_factory=list)
    pullbacks: list[Pullback] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    n_before: int = 0
    graph_places: dict[tuple[int, str], int] = field(default_factory=dict)

    def next_index(self) -> int:
        return len(self.events) - self.n_before

    def place_of(self, number: int) -> int:
        """The index of the first event after something that has a number in the raw record."""
        return next((self.places[i] for i in sorted(self.places) if i > number), self.next_index())

    def add_raw(self, raw: RawEvent, call_id: int, whole: bool = False) -> None:
        """One eager op, or one call of a function, which is left `whole` or taken apart."""
        phase: Phase = "backward" if call_id in raw.within else "forward"
        if isinstance(raw.run, FunctionRun) and not whole:
            self.add_run(raw.run, raw, lambda step: phase)
        else:
            self._add_eager(raw, phase)
        self.places[raw.index] = self.next_index() - 1

    def _add_eager(self, raw: RawEvent, phase: Phase) -> None:
        spans = spans_of(raw.places)
        self.events.append(
            OpEvent(
                self.next_index(),
                raw.op,
                tuple(value_of(tensor) for tensor in raw.inputs),
                tuple(value_of(tensor) for tensor in raw.outputs),
                plain_attrs(raw.op, raw.attrs),
                spans[0] if spans else None,
                spans,
                phase,
                raw.within,
                raw.tapes,
                raw.scope,
                raw.pullback,
            )
        )

    def add_run(self, run: FunctionRun, raw: RawEvent | None, phase_of: PhaseOf, keep: Any = None) -> None:
        """The ops of a function call; without them, if they are not to be had, the call as one op."""
        expansion = expand(run, self.traces)
        spans = spans_of(run.places)
        self.calls.append(
            FunctionCall(
                run.id,
                run.name,
                run.mode,
                spans[0] if spans else None,
                tuple(value_of(tensor) for tensor in run.args),
                tuple(value_of(tensor) for tensor in run.outputs),
                expansion.failure,
                tuple(sorted(expansion.interpretation.not_known)),
            )
        )
        if expansion.failure is not None:
            if raw is not None:
                self._add_eager(raw, phase_of(cast(Any, None)))
            return
        GraphEvents(self, run, expansion, raw, phase_of, keep).add()
        if raw is not None:
            self._add_return(run, raw, expansion, phase_of(cast(Any, None)))

    def _add_return(self, run: FunctionRun, raw: RawEvent, expansion: Expansion, phase: Phase) -> None:
        pairs = [
            (inner, outer)
            for inner, outer in zip(expansion.outputs, run.outputs)
            if inner is not None and inner._id != outer._id and not isinstance(inner, Unknown)
        ]
        spans = spans_of(raw.places)
        self.events.append(
            OpEvent(
                len(self.events),
                RETURN_OP,
                tuple(value_of(inner, expansion.originals) for inner, _ in pairs),
                tuple(value_of(outer) for _, outer in pairs),
                {},
                spans[0] if spans else None,
                spans,
                phase,
                raw.within,
                raw.tapes,
                raw.scope,
                raw.pullback,
                run.id,
            )
        )

    def add_scopes(self, raws: Iterable[RawScope]) -> None:
        self.scopes += [_scope(raw) for raw in raws]

    def add_pullbacks(self, raws: Iterable[RawPullback], events: Sequence[RawEvent]) -> None:
        """Each pullback with the op it differentiates: same op, same tensors, the latest not yet taken."""
        by_op: dict[str, list[RawEvent]] = {}
        for event in events:
            by_op.setdefault(event.op, []).append(event)
        taken: set[int] = set()
        for raw in raws:
            match = next(
                (e for e in reversed(by_op.get(raw.op, [])) if e.index not in taken and _same(raw, e)), None
            )
            if match is not None:
                taken.add(match.index)
            self.pullbacks.append(
                Pullback(
                    raw.id,
                    raw.op,
                    None if match is None else self.places.get(match.index),
                    raw.scope,
                    raw.parent,
                    tuple(optional_value_of(tensor) for tensor in raw.upstream),
                    tuple(optional_value_of(tensor) for tensor in raw.results),
                    raw.exception,
                )
            )


@dataclass(eq=False)
class GraphEvents:
    """The steps of one function call as events, scopes and pullbacks."""

    program: Program
    run: FunctionRun
    expansion: Expansion
    raw: RawEvent | None
    phase_of: PhaseOf
    keep: Callable[[Step], bool] | None
    scopes: dict[tuple[int, str], int] = field(default_factory=dict)
    rules: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self) -> None:
        for step in self.expansion.interpretation.steps:
            if self.keep is None or self.keep(step):
                self._add_step(step)
        for frame in self.expansion.interpretation.frames:
            self._add_rules(frame)

    def _add_step(self, step: Step) -> None:
        program, raw = self.program, self.raw
        spans = program.traces.spans(step.operation)
        scope = self._scope_at(step.frame, step.position)
        rule = self._rule_at(step.frame, step.position)
        index = len(program.events)
        program.graph_places[(id(step.operation.graph), step.operation.name)] = index
        program.events.append(
            OpEvent(
                index,
                step.operation.type,
                tuple(self._value(tensor) for tensor in step.inputs),
                tuple(self._value(tensor) for tensor in step.outputs),
                graph_attrs(step.operation),
                spans[0] if spans else None,
                spans,
                self.phase_of(step),
                () if raw is None else raw.within,
                () if raw is None else raw.tapes,
                scope if scope is not None or raw is None else raw.scope,
                rule if rule is not None or raw is None else raw.pullback,
                self.run.id,
                step.loop,
                step.operation.name,
            )
        )
        key = step.operation.node_def.attr.get("_gradient_op_type")
        if key is not None and step.operation.type == "IdentityN":
            self._close_scope(step, key.s.decode())

    def _value(self, tensor: Any) -> Value:
        if tensor is None:
            return Value(0, "none", None, unknown="it was not computed")
        return value_of(tensor, self.expansion.originals)

    def _scope_at(self, frame: Frame | None, position: int) -> int | None:
        """The innermost custom gradient around a place, in its own graph or the graphs that called it."""
        while frame is not None:
            notes = self.program.traces.peek(frame.graph)
            around = [s for s in (notes.scopes if notes else []) if s.first <= position < s.last]
            if around:
                return self._scope_id(frame, max(around, key=lambda s: s.first))
            frame, position = frame.parent, frame.parent_position
        return None

    def _scope_id(self, frame: Frame, scope: TracedScope) -> int:
        return self.scopes.setdefault((frame.id, scope.key), next(numbers))

    def _close_scope(self, step: Step, key: str) -> None:
        """The op that ends a custom gradient in a graph: results, arguments and variables side by side."""
        notes = self.program.traces.peek(step.frame.graph)
        scope = next((s for s in (notes.scopes if notes else []) if s.key == key), None)
        if scope is None:
            return
        inputs = [self._value(tensor) for tensor in step.inputs[scope.n_results :]]
        n_args = len(inputs) - scope.n_variables
        self.program.scopes.append(
            CustomScope(
                self._scope_id(step.frame, scope),
                scope.name,
                cast(Any, scope.kind),
                self._scope_at(step.frame, scope.first - 1),
                scope.spans[0] if scope.spans else None,
                scope.definition,
                tuple(inputs),
                tuple(self._value(tensor) for tensor in step.outputs[: scope.n_results]),
                tuple(value.id for value in inputs[n_args:]),
            )
        )

    def _rule_at(self, frame: Frame | None, position: int) -> int | None:
        while frame is not None:
            found = self._rules_around(frame, position)
            if found:
                return self._rule_id(frame, found[-1])
            frame, position = frame.parent, frame.parent_position
        return None

    def _rules_around(self, frame: Frame, position: int) -> list[int]:
        """The rules around a place in one graph, innermost last."""
        notes = self.program.traces.peek(frame.graph)
        rules = notes.rules if notes else []
        around = [i for i, rule in enumerate(rules) if rule.first <= position < rule.last]
        return sorted(around, key=lambda i: rules[i].first - rules[i].last)

    def _rule_id(self, frame: Frame, i: int) -> int:
        return self.rules.setdefault((frame.id, i), next(numbers))

    def _add_rules(self, frame: Frame) -> None:
        notes = self.program.traces.peek(frame.graph)
        for i, rule in enumerate(notes.rules if notes else []):
            if (frame.id, i) in self.rules:
                self.program.pullbacks.append(self._pullback(frame, i, rule))

    def _pullback(self, frame: Frame, i: int, rule: TracedRule) -> Pullback:
        forward = None
        if rule.forward is not None:
            forward = self.program.graph_places.get((id(rule.forward.graph), rule.forward.name))
        scope = next((n for (_, key), n in reversed(self.scopes.items()) if key == rule.key), None)
        parents = self._rules_around(frame, rule.first)
        outer = [k for k in parents if k != i and parents.index(k) < parents.index(i)] if i in parents else []
        return Pullback(
            self._rule_id(frame, i),
            rule.op,
            forward,
            scope,
            self._rule_id(frame, outer[-1]) if outer else None,
            tuple(self._optional(frame, tensor) for tensor in rule.upstream),
            tuple(self._optional(frame, tensor) for tensor in rule.results),
        )

    def _optional(self, frame: Frame, tensor: Any) -> Value | None:
        if tensor is None:
            return None
        return self._value(frame.get(tensor) if hasattr(tensor, "_id") else None)


def graph_attrs(operation: Any) -> Any:
    """The attributes of a graph op; a constant's value is its output already."""
    flat: list[Any] = []
    for name, proto in operation.node_def.attr.items():
        if not name.startswith("_") and proto.WhichOneof("value") != "tensor":
            flat += [name, attr_value(proto)]
    return plain_attrs(operation.type, tuple(flat))


def _scope(raw: RawScope) -> CustomScope:
    return CustomScope(
        raw.id,
        raw.name,
        cast(Any, raw.kind),
        raw.parent,
        span_of(raw.places[0]) if raw.places else None,
        definition_of(raw.function),
        tuple(value_of(tensor) for tensor in raw.inputs),
        tuple(value_of(tensor) for tensor in raw.outputs),
        tuple(variable.handle._id for variable in raw.variables),
        raw.complete,
    )


def definition_of(function: Any) -> Span | None:
    """Where a function's definition begins."""
    code = getattr(function, "__code__", None)
    return None if code is None else Span(code.co_filename, code.co_firstlineno, function=code.co_name)


def _same(raw: RawPullback, event: RawEvent) -> bool:
    """Whether the tensors that the tape kept are those of the event; it drops those no rule needs."""
    if event.index > raw.id:
        return False
    inputs = [t._id for t in raw.inputs if hasattr(t, "_id")]
    outputs = [t._id for t in raw.outputs if hasattr(t, "_id")]
    if not inputs and not outputs:
        return False
    ins, outs = {t._id for t in event.inputs}, {t._id for t in event.outputs}
    return ins.issuperset(inputs) and outs.issuperset(outputs)

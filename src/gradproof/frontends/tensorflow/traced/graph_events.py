"""The steps of an interpreted function call as events, custom gradients and pullbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from gradproof.frontends.record.model import (
    NO_TENSOR,
    NOT_COMPUTED,
    CustomScope,
    InnerCall,
    OpEvent,
    Phase,
    RuleRun,
    Value,
)
from gradproof.frontends.tensorflow.eager.hand_written import (
    definition_of,
    gradient_type,
    line_of_rule,
    registered_rule,
)
from gradproof.frontends.tensorflow.eager.recorder import RawEvent, numbers
from gradproof.frontends.tensorflow.traced.functions import Expansion, FunctionRun
from gradproof.frontends.tensorflow.traced.interpret import Frame, Step
from gradproof.frontends.tensorflow.traced.tracing import TracedRule, TracedScope, Traces
from gradproof.frontends.tensorflow.values import attr_value, plain_attrs, value_of
from gradproof.ir.span import Span

PhaseOf = Callable[[Step | None], Phase]


class GraphTarget(Protocol):
    """Where the events go."""

    traces: Traces
    events: list[OpEvent]
    scopes: list[CustomScope]
    pullbacks: list[RuleRun]
    inner: list[InnerCall]
    graph_places: dict[tuple[int, str], int]
    scope_ids: dict[tuple[int, str], int]


def add_graph_events(
    program: GraphTarget,
    run: FunctionRun,
    expansion: Expansion,
    raw: RawEvent | None,
    phase_of: PhaseOf,
    keep: Callable[[Step], bool] | None,
) -> None:
    """Add what a function call did, op by op; `keep` leaves out steps that are not wanted."""
    adding = _GraphEvents(program, run, expansion, raw, phase_of)
    for step in expansion.interpretation.steps:
        if keep is None or keep(step):
            adding.add_step(step)
    for frame in expansion.interpretation.frames:
        adding.add_rules(frame)
        adding.add_inner(frame)


@dataclass(eq=False)
class _GraphEvents:
    """The steps of one function call as events, scopes and pullbacks."""

    program: GraphTarget
    run: FunctionRun
    expansion: Expansion
    raw: RawEvent | None
    phase_of: PhaseOf
    rules: dict[tuple[int, int], int] = field(default_factory=dict)
    innermost: dict[int, dict[int, int]] = field(default_factory=dict)  # by graph and place

    def add_step(self, step: Step) -> None:
        program, raw = self.program, self.raw
        spans = self._spans(step)
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
                hidden_in=self._hidden_in(step.operation),
            )
        )
        key = gradient_type(step.operation)
        if key is not None and step.operation.type == "IdentityN":
            self._close_scope(step, key)
        elif key is not None:
            self._add_registered(step, key, spans)

    def _spans(self, step: Step) -> tuple[Span, ...]:
        """Where the op was written; for one without a past (`body_of`), where the op was that called its graph."""
        spans, frame = self.program.traces.spans(step.operation), step.frame
        while not spans and frame.parent is not None:
            caller = frame.parent.graph.get_operations()[frame.parent_position]
            spans, frame = self.program.traces.spans(caller), frame.parent
        return spans

    def _hidden_in(self, operation: Any) -> str | None:
        notes = self.program.traces.peek(operation.graph)
        return None if notes is None else notes.hidden.get(operation.name)

    def _value(self, tensor: Any) -> Value:
        if tensor is None:
            return Value(NO_TENSOR, "none", None, unknown=NOT_COMPUTED)
        return value_of(tensor, self.expansion.originals)

    def _scope_at(self, frame: Frame | None, position: int) -> int | None:
        """The innermost custom gradient around a place, in its own graph or the graphs that called it."""
        while frame is not None:
            notes = self.program.traces.peek(frame.graph)
            around = [s for s in (notes.scopes if notes else []) if s.first <= position < s.last]
            if around:
                return self._scope_id(frame, max(around, key=lambda s: s.first))
            position, frame = frame.parent_position, frame.parent
        return None

    def _scope_id(self, frame: Frame, scope: TracedScope) -> int:
        return self.program.scope_ids.setdefault((frame.id, scope.key), next(numbers))

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
                rule=scope.rule,
                library=scope.library,
            )
        )

    def _add_registered(self, step: Step, key: str, spans: tuple[Span, ...]) -> None:
        """An op whose gradient the user has put another one in the place of, by a name in TensorFlow's registry."""
        function = registered_rule(key)
        if function is not None:
            self.program.scopes.append(
                CustomScope(
                    self.program.scope_ids.setdefault(
                        (step.frame.id, _key(step.operation, key)), next(numbers)
                    ),
                    step.operation.type,
                    "custom_gradient",
                    None,
                    spans[0] if spans else None,
                    definition_of(function),
                    tuple(self._value(tensor) for tensor in step.inputs),
                    tuple(self._value(tensor) for tensor in step.outputs),
                    rule=line_of_rule(function),
                )
            )

    def _rule_at(self, frame: Frame | None, position: int) -> int | None:
        while frame is not None:
            found = self._innermost(frame.graph).get(position)
            if found is not None:
                return self._rule_id(frame, found)
            position, frame = frame.parent_position, frame.parent
        return None

    def _innermost(self, graph: Any) -> dict[int, int]:
        """The innermost rule at each place of a graph."""
        found = self.innermost.get(id(graph))
        if found is None:
            notes = self.program.traces.peek(graph)
            rules = list(enumerate(notes.rules if notes else []))
            widest_first = sorted(rules, key=lambda one: one[1].first - one[1].last)
            found = {place: i for i, rule in widest_first for place in range(rule.first, rule.last)}
            self.innermost[id(graph)] = found
        return found

    def _rules_around(self, frame: Frame, position: int) -> list[int]:
        """The rules around a place in one graph, innermost last."""
        notes = self.program.traces.peek(frame.graph)
        rules = notes.rules if notes else []
        around = [i for i, rule in enumerate(rules) if rule.first <= position < rule.last]
        return sorted(around, key=lambda i: rules[i].first - rules[i].last)

    def _rule_id(self, frame: Frame, i: int) -> int:
        return self.rules.setdefault((frame.id, i), next(numbers))

    def add_rules(self, frame: Frame) -> None:
        notes = self.program.traces.peek(frame.graph)
        for i, rule in enumerate(notes.rules if notes else []):
            if (frame.id, i) in self.rules:
                self.program.pullbacks.append(self._pullback(frame, i, rule))

    def add_inner(self, frame: Frame) -> None:
        """Every gradient call of the graph; whoever looks at one of them takes it for its own by what it returned."""
        notes = self.program.traces.peek(frame.graph)
        for call in notes.gradients if notes else []:
            parts = (call.targets, call.output_gradients or [None] * len(call.targets), call.results)
            known = (tuple(self._optional(frame, tensor) for tensor in part) for part in parts)
            self.program.inner.append(InnerCall(call.api, *known))

    def _pullback(self, frame: Frame, i: int, rule: TracedRule) -> RuleRun:
        forward = None
        if rule.forward is not None:
            forward = self.program.graph_places.get((id(rule.forward.graph), rule.forward.name))
        scopes = reversed(self.program.scope_ids.items())
        wanted = None if rule.key is None else _key(rule.forward, rule.key)
        scope = next((number for (_, key), number in scopes if key == wanted), None)
        n_results = 0 if rule.forward is None or scope is None else _n_results(rule, self.program.traces)
        upstream = rule.upstream[:n_results] if n_results else rule.upstream
        parents = self._rules_around(frame, rule.first)
        outer = [k for k in parents if k != i and parents.index(k) < parents.index(i)] if i in parents else []
        return RuleRun(
            self._rule_id(frame, i),
            rule.op,
            forward,
            scope,
            self._rule_id(frame, outer[-1]) if outer else None,
            tuple(self._optional(frame, tensor) for tensor in upstream),
            tuple(self._optional(frame, tensor) for tensor in rule.results[n_results:]),
        )

    def _optional(self, frame: Frame, tensor: Any) -> Value | None:
        if tensor is None:
            return None
        if not hasattr(tensor, "_id"):
            return Value(NO_TENSOR, "none", None, unknown="it consists of several tensors")
        return self._value(frame.get(tensor))


def _key(operation: Any, key: str) -> str:
    """The key of a custom gradient; a registered rule may be that of many ops."""
    return key if operation is None or operation.type == "IdentityN" else f"{key} {operation.name}"


def _n_results(rule: TracedRule, traces: Traces) -> int:
    """How many tensors of the op that ends a custom gradient are results; the others are inputs."""
    notes = traces.peek(rule.forward.graph)
    return next((scope.n_results for scope in (notes.scopes if notes else []) if scope.key == rule.key), 0)


def graph_attrs(operation: Any) -> Any:
    """The attributes of a graph op; a constant's value is its output already."""
    flat: list[Any] = []
    for name, proto in operation.node_def.attr.items():
        if not name.startswith("_") and proto.WhichOneof("value") != "tensor":
            flat += [name, attr_value(proto)]
    return plain_attrs(operation.type, tuple(flat))

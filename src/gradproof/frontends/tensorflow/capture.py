"""From a recorded gradient call of TensorFlow to a capture: programs, sources, rules, facts."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import GradproofError
from gradproof.frontends.lowering import Lowering
from gradproof.frontends.tensorflow.breaks import find_break
from gradproof.frontends.tensorflow.lower import TABLE
from gradproof.frontends.tensorflow.lower._table import TensorList
from gradproof.frontends.tensorflow.recording import CustomScope, GradientCall, Operand, OpEvent, Value
from gradproof.ir import types
from gradproof.ir.capture import Capture, Pullback, Scope, Source
from gradproof.ir.program import Builder, Program, prune
from gradproof.ir.span import Span

UNKNOWN_PLACE = Span("<unknown>", 0)


def to_capture(call: GradientCall) -> Capture:
    """Everything the judge and the causes need; what could not be lowered stays opaque, and a failure is said."""
    try:
        return _Assembly(call).capture()
    except GradproofError as error:
        return unread(call, str(error))
    except Exception as error:  # an internal fault must not break the user's run: it becomes a stated reason
        return unread(
            call,
            f"gradproof failed to read this gradient ({error!r}); please report it with this trace: "
            + traceback.format_exc(limit=-3),
        )


def unread(call: GradientCall, reason: str) -> Capture:
    sources = tuple(_bare_source(call, k, operand) for k, operand in enumerate(call.sources))
    return Capture(
        "tensorflow",
        call.span or UNKNOWN_PLACE,
        _target_name(call),
        sources,
        None,
        occurrence=call.occurrence,
        facts={"mode": call.mode, "call": call},
        failure=reason,
    )


def _bare_source(call: GradientCall, k: int, operand: Operand) -> Source:
    observed = call.observed[k] if k < len(call.observed) else None
    array = None if observed is None else observed.array
    return Source(operand.name, operand.value.shape or (), operand.value.dtype, None, array)


def _target_name(call: GradientCall) -> str:
    return ", ".join(target.name for target in call.targets) or "target"


class _Assembly:
    """Lowers the events of a call in order, keeping which node stands for which tensor."""

    def __init__(self, call: GradientCall) -> None:
        self.call = call
        self.m = Lowering(Builder())
        self.nodes: dict[int, Traced | TensorList] = {}  # tensor id -> what stands for it
        self.variables = {s.variable.id: s for s in call.sources if s.variable is not None}
        self.leaf_sources = {s.value.id: s for s in call.sources}
        self.faults: list[str] = []
        spans = {event.index: event.span for event in (*call.older, *call.events)}
        self.rule_spans = {p.id: spans[p.forward] for p in call.pullbacks if p.forward in spans}

    def capture(self) -> Capture:
        call = self.call
        for event in self._events():
            self._lower(event)
        self.m.place(call.span, "forward", None)
        output = self._weighted_target()
        sources = tuple(self._source(k, operand) for k, operand in enumerate(call.sources))
        whole = self.m.builder.build([output.id])
        recorded = [s.recorded for s in sources if s.recorded is not None]
        return Capture(
            framework="tensorflow",
            call=call.span or UNKNOWN_PLACE,
            target=_target_name(call),
            sources=sources,
            program=prune(whole, [output.id]),
            gradient_program=whole.with_outputs(recorded) if recorded else None,
            pullbacks=tuple(self._pullbacks(whole)),
            scopes=tuple(self._scopes()),
            occurrence=call.occurrence,
            facts={"mode": call.mode, "call": call, "faults": tuple(self.faults)},
            failure=call.failure,
        )

    def _events(self) -> Iterable[OpEvent]:
        """What the tape saw, and, if a gradient is missing, also what it did not: the path may have broken there."""
        events = [*self.call.older, *self.call.events]
        missing = not self.call.observed or any(observed is None for observed in self.call.observed)
        tape = self.call.tape.id
        scopes = {scope.id for scope in self.call.scopes}  # their forward may run while the tape is stopped
        # A tape inside a traced function has no number: the graph does not say what it saw, so it saw all.
        sees_all = missing or not tape or self.call.tape.kind != "tape"
        for event in sorted(events, key=lambda e: e.index):
            # Tapes are stopped while `stop_gradient` runs: its result is still computed, not a given number.
            seen = tape in event.tapes or event.scope in scopes or event.op == "StopGradient"
            if sees_all or seen or event.phase == "backward":
                yield event

    def _lower(self, event: OpEvent) -> None:
        # A backward op belongs to the line whose derivative it computes, not to the line that asked for gradients.
        self.m.place(self.rule_spans.get(event.pullback, event.span), event.phase, event.scope)
        if event.op == "ReadVariableOp":
            self._read_variable(event)
            return
        if event.op in ("ResourceGather", "ResourceGatherNd"):
            self._gather_variable(event)
            return
        results = self._results(event)
        for output, result in zip(event.outputs, results):
            if result is not None:
                self.nodes[output.id] = result

    def _read_variable(self, event: OpEvent) -> None:
        """A read is the variable itself; after an assignment, the variable moved by what was assigned."""
        handle, output = event.inputs[0], event.outputs[0]
        if output.array is None:
            return
        if handle.id not in self.variables:
            self.nodes[output.id] = self.m.constant(output.array)
            return
        source = self._variable(handle.id, output.array)
        if np.array_equal(source.value, output.array, equal_nan=True):
            self.nodes[output.id] = self.m.identity(source)
        else:
            moved = output.array.astype(np.float64) - source.value.astype(np.float64)
            since = self.m.builder.next_id
            self.nodes[output.id] = self.m.settle_value(
                self.m.add(source, self.m.constant(moved)), output.array, since
            )

    def _variable(self, id: int, array: Any) -> Traced:
        """The node of a variable that is a source; it is worth what was first read from it."""
        if id not in self.nodes:
            self.nodes[id] = self.m.input(array, self.variables[id].name)
        node = self.nodes[id]
        assert isinstance(node, Traced)
        return node

    def _gather_variable(self, event: OpEvent) -> None:
        """Rows of a variable, which no read of the whole of it precedes."""
        handle, output = event.inputs[0], event.outputs[0]
        source = self.variables.get(handle.id)
        rows = None if source is None else source.value.array
        if rows is None:
            self.nodes[output.id] = self.m.constant(output.array)
            return
        self._variable(handle.id, rows)
        for put, result in zip(event.outputs, self._results(event)):
            if result is not None:
                self.nodes[put.id] = result

    def _results(self, event: OpEvent) -> tuple[Traced | TensorList | None, ...]:
        xs = [self._tensor(value) for value in event.inputs]
        since = self.m.builder.next_id
        if all(isinstance(x, Traced) and self._is_fact(x) for x in xs) and all(
            map(_has_numbers, event.outputs)
        ):
            return tuple(self._constant(output.array) for output in event.outputs)
        lowering = TABLE.get(event.op)
        if lowering is not None and None not in xs:
            results = self._try(lowering, event, xs)
            if results is not None:
                return tuple(self._settled(*pair, since) for pair in zip(results, event.outputs))
        known = [item for x in xs for item in _tensors_in(x)]
        return tuple(self._opaque(event.op, known, output.array) for output in event.outputs)

    def _is_fact(self, x: Traced) -> bool:
        """Integers that no decision of the program went into, such as shapes and axes."""
        return self.m.is_constant(x) and not _is_number(x)

    def _settled(self, result: Any, output: Value, since: int) -> Traced | TensorList | None:
        if isinstance(result, TensorList) or result is None:
            return result
        return None if output.array is None else self.m.settle_value(result, output.array, since)

    def _opaque(self, op: str, known: list[Traced], array: Any) -> Traced | None:
        """What nothing known went into, such as the next example of a data set, is simply given."""
        if not known:
            return self._constant(array)
        return None if array is None or not _is_numeric(array) else self.m.opaque(op, known, array)

    def _try(self, lowering: Any, event: OpEvent, xs: list[Any]) -> tuple[Any, ...] | None:
        try:
            result = lowering(self.m, event, *xs)
        except NotImplementedError:
            return None  # a variant of the op that has no lowering: opaque, and named so
        except Exception as error:  # a fault of ours costs this op its meaning, not the user the whole report
            self.faults.append(f"{event.op} could not be read ({error!r}): {traceback.format_exc(limit=-1)}")
            return None
        return result if isinstance(result, tuple) else (result,)

    def _tensor(self, value: Value) -> Traced | TensorList | None:
        if value.id in self.nodes:
            return self.nodes[value.id]
        if value.array is None or not _is_numeric(value.array):
            return None
        source = self.leaf_sources.get(value.id)
        leaf = self._constant(value.array) if source is None else self.m.input(value.array, source.name)
        if leaf is not None:
            self.nodes[value.id] = leaf
        return leaf

    def _constant(self, array: Any) -> Traced | None:
        return None if array is None or not _is_numeric(array) else self.m.constant(array)

    def _weighted_target(self) -> Traced:
        """The number that was differentiated: every target times its output gradient, summed."""
        weights = self.call.output_gradients or (None,) * len(self.call.targets)
        total: Traced | None = None
        for target, weight in zip(self.call.targets, weights):
            y = self._tensor(target.value)
            if not isinstance(y, Traced):
                raise GradproofError(f"the value of the target `{target.name}` is not known")
            if weight is not None and weight.array is not None:
                y = self.m.mul(y, self.m.conj(self.m.constant(weight.array)))
            if not types.is_discrete(types.dtype_name(y.value)):
                y = self.m.real(y) if np.iscomplexobj(y.value) else y
                y = self.m.sum(y, axes=tuple(range(y.ndim))) if y.ndim else y
                total = y if total is None else self.m.add(total, y)
        if total is None:
            raise GradproofError("the target is an integer or a boolean, which has no derivative")
        return total

    def _source(self, k: int, operand: Operand) -> Source:
        node = self.nodes.get(operand.value.id)
        if node is None and operand.variable is not None:
            node = self.nodes.get(operand.variable.id)
        observed = self.call.observed[k] if k < len(self.call.observed) else None
        array = None if observed is None else observed.array
        recorded = None if observed is None else self._recorded(observed)
        broken = find_break(self.call, k) if array is None else None
        id = None if node is None else node.id
        return Source(
            operand.name, operand.value.shape or (), operand.value.dtype, id, array, recorded, broken
        )

    def _recorded(self, observed: Any) -> int | None:
        seeds = {seed.id for seed in self.call.output_gradients or () if seed is not None}
        # A rule may hand on what it was given; then no op puts the gradient out.
        id = observed.ids[0] if observed.ids else observed.values.id
        node = self._tensor(observed.values) if observed.values.id in seeds else self.nodes.get(id)
        if not isinstance(node, Traced):
            return None
        if observed.indices is None:
            return node.id
        indices = observed.indices.array
        self.m.place(self.call.span, "backward", None)
        return int(self.m.scatter_add(node, indices, size=int(observed.shape[0])).id)

    def _pullbacks(self, whole: Program) -> Iterable[Pullback]:
        events = {event.index: event for event in (*self.call.older, *self.call.events)}
        known = {node.id for node in whole.nodes}
        for pullback in self.call.pullbacks:
            event = None if pullback.forward is None else events.get(pullback.forward)
            if event is None or event.op == "ReadVariableOp":
                continue
            inputs = self._ids(event.inputs)
            outputs = self._ids(event.outputs)
            if None in outputs or None in inputs or not set(outputs) <= known:
                continue
            upstream = self._ids(pullback.upstream)
            results = self._ids(pullback.results)
            yield Pullback(event.op, inputs, outputs, upstream, results, event.span)  # type: ignore[arg-type]

    def _ids(self, values: Iterable[Value | None]) -> tuple[int | None, ...]:
        return tuple(
            None if value is None else getattr(self.nodes.get(value.id), "id", None) for value in values
        )

    def _scopes(self) -> Iterable[Scope]:
        for scope in self.call.scopes:
            yield self._scope(scope)

    def _scope(self, scope: CustomScope) -> Scope:
        rule = next((p for p in self.call.pullbacks if p.scope == scope.id), None)
        inputs = tuple(id for id in self._ids(scope.inputs) if id is not None)
        outputs = tuple(id for id in self._ids(scope.outputs) if id is not None)
        rule_at = next((e.span for e in self.call.events if rule is not None and e.pullback == rule.id), None)
        return Scope(
            id=scope.id,
            name=scope.name,
            inputs=inputs,
            outputs=outputs,
            upstream=None if rule is None else tuple(id for id in self._ids(rule.upstream) if id is not None),
            results=None if rule is None else self._ids(rule.results),
            used_at=scope.span,
            defined_at=scope.definition,
            rule_at=rule_at,
            complaint=None if rule is None else rule.exception,
        )


def _is_numeric(array: Any) -> bool:
    return array.dtype.kind in "biufc" or str(array.dtype) == "bfloat16"


def _has_numbers(value: Value) -> bool:
    return value.array is not None


def _tensors_in(x: Traced | TensorList | None) -> Iterable[Traced]:
    """The arrays that an input consists of."""
    if isinstance(x, Traced):
        yield x
    elif isinstance(x, TensorList):
        for item in x.items:
            yield from _tensors_in(item)


def _is_number(x: Traced) -> bool:
    return not types.is_discrete(types.dtype_name(x.value))

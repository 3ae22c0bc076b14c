"""The events of a gradient call as a program: which node stands for which tensor."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.assemble.lists import TensorList, Unread, is_numeric, tensors_in
from gradproof.frontends.assemble.lowering import Lowering
from gradproof.frontends.assemble.ran import Ran, ran_as
from gradproof.frontends.assemble.view import HEARD, WHOLE, View
from gradproof.frontends.exits.matching import Comebacks
from gradproof.frontends.record.flow import is_older_primal
from gradproof.frontends.record.model import NO_TENSOR, GradientCall, OpEvent, Value
from gradproof.internal_error import fault_reason
from gradproof.ir import types
from gradproof.ir.program import Builder
from gradproof.ir.span import Span

Known = Traced | TensorList

STORING = ("store", "add", "subtract")
"""The roles of ops that change what a variable holds."""


class Assembly:
    """Lowers the events of a call in order, keeping which node stands for which tensor."""

    def __init__(self, call: GradientCall, view: View | None = None) -> None:
        missing = not call.observed or any(observed is None for observed in call.observed)
        self.call = call
        self.dialect = dialect_of(call.framework)
        self.view = view or (WHOLE if missing else HEARD)
        self.comebacks = Comebacks(call, all_ways=self.view.unheard)
        # By the handle of a variable: what was assigned to it or added since, and whether that is all it holds.
        self.stored: dict[int, tuple[Traced, bool]] = {}
        # By the handle of a variable that is no source: what was read from it, until something is assigned to it.
        self.given: dict[int, Traced] = {}
        self.m = Lowering(Builder())
        self.nodes: dict[int, Known] = {}  # tensor id -> what stands for it
        self.variables = {s.variable.id: s for s in call.sources if s.variable is not None}
        self.leaf_sources = {s.value.id: s for s in call.sources}
        self.leaves: list[tuple[OpEvent, Value]] = []  # what came from nowhere, and where it was first taken
        self.decided: set[int] = set()  # tensors that no tape heard of, and that follow from decisions
        self.faults: list[str] = []
        self.ran: list[Ran] = []
        self._event: OpEvent | None = None  # the one being lowered
        spans = {event.index: event.span for event in (*call.older, *call.events)}
        self.rule_spans: dict[int | None, Span | None] = {
            p.id: spans[p.forward] for p in call.pullbacks if p.forward in spans and p.scope is None
        }
        uses = {scope.id: scope.span for scope in call.scopes}
        self.scope_spans = {p.id: uses[p.scope] for p in call.pullbacks if p.scope in uses}

    def lower(self) -> None:
        """Lower all events that take part, in order."""
        if self.view.returned:
            for source in self.call.sources:  # a constant may be read by Python before any op has taken it
                if source.variable is None:
                    self.tensor(source.value)
        for event in self._events():
            tick()
            self._event = event
            self._lower(event)
            self._stop(event)
        self._event = None

    def _stop(self, event: OpEvent) -> None:
        """Tensors that `tf.gradients` was told to take as given: where one is a source it begins there."""
        for output in event.outputs:
            is_given = output.id in self.call.stopped or is_older_primal(self.call, event, output)
            if is_given and output.array is not None:
                source = self.leaf_sources.get(output.id)
                make = self.m.constant if source is None else partial(self.m.input, name=source.name)
                self.nodes[output.id] = make(output.array)

    def _events(self) -> Iterable[OpEvent]:
        """What the tape saw, and, if a gradient is missing, also what it did not: the path may have broken there."""
        events = [*self.call.older, *self.call.events]
        tape = self.call.tape
        scopes = {scope.id for scope in self.call.scopes}  # their forward may run while the tape is stopped
        sees_all = self.view.unheard or self.call.tape.kind != "tape"
        for event in sorted(events, key=lambda e: e.index):
            # Tapes are stopped while `stop_gradient` runs: its result is still computed, not a given number.
            seen = event.is_heard_by(tape) or event.scope in scopes or self.dialect.role(event) == "stop"
            if sees_all or seen or event.phase == "backward" or self._follows_a_decision(event):
                yield event

    def _follows_a_decision(self, event: OpEvent) -> bool:
        """Whether integers that were computed went in, as places in a table: no gradient passes, but they do change."""
        if any(value.id in self.decided or self._is_decided(value) for value in event.inputs):
            self.decided |= {output.id for output in event.outputs}
            return True
        return False

    def _is_decided(self, value: Value) -> bool:
        known = self.nodes.get(value.id)
        return isinstance(known, Traced) and not self.m.is_constant(known) and not _is_number(known)

    def _span_of(self, event: OpEvent) -> Span | None:
        """A backward op belongs to the line whose derivative it computes, or to the line of the user's own rule."""
        if event.pullback in self.scope_spans and event.span == self.call.span:
            return self.scope_spans[event.pullback]  # a rule of the library: no line of the user's is in it
        return self.rule_spans.get(event.pullback, event.span)

    def _lower(self, event: OpEvent) -> None:
        self.m.place(self._span_of(event), event.phase, event.scope)
        role = self.dialect.role(event)
        if role in STORING:
            self._store(event)
            return
        if role == "read":
            self._read_variable(event)
            return
        if role == "gather":
            self._gather_variable(event)
            return
        if role == "pass-on":
            self._hand_on(event)
            return
        before = len(self.m.builder.nodes)
        self._note(event, self._results(event))
        if self.dialect.replays_ops:
            self.ran += ran_as(event, self.nodes, self.m.builder.nodes[before:])

    def _note(self, event: OpEvent, results: Iterable[Known | None]) -> None:
        for output, result in zip(event.outputs, results):
            if result is not None:
                self.nodes[output.id] = result

    def _hand_on(self, event: OpEvent) -> None:
        """Every output is its input, or what the user's own mode made of it; what is not known of one says nothing
        about the others."""
        for given, output in zip(event.inputs, event.outputs):
            x, since = self.tensor(given), self.m.builder.next_id
            if isinstance(x, Traced) and output.array is not None:
                self.nodes[output.id] = self.m.settle_value(
                    self.m.identity(x), output.array, since, same=False
                )
            elif isinstance(x, TensorList):
                self.nodes[output.id] = x

    def _read_variable(self, event: OpEvent) -> None:
        """A read is the variable itself; after an assignment, the variable moved by what was assigned."""
        handle, output = event.inputs[0], event.outputs[0]
        if output.array is None:
            return
        stored = self.stored.get(handle.id)
        if stored is not None and stored[0].shape == output.array.shape:
            self.nodes[output.id] = self._read_stored(*stored, output.array)
            return
        if handle.id not in self.variables:
            self.nodes[output.id] = self._given(handle.id, output.array)
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

    def _given(self, id: int, array: Any) -> Traced:
        """All reads of a variable between two assignments are one constant: a rule can be tried with another."""
        known = self.given.get(id)
        if known is None or not np.array_equal(known.value, array, equal_nan=True):
            known = self.given[id] = self.m.constant(array)
        return known

    def _store(self, event: OpEvent) -> None:
        """What is read from a variable later is what was put into it; for a tape, a number out of nowhere."""
        self.given.pop(event.inputs[0].id if event.inputs else NO_TENSOR, None)
        if not self.view.stored or len(event.inputs) < 2 or event.inputs[0].id in self.variables:
            return
        handle, value = event.inputs[0].id, self.tensor(event.inputs[1])
        before, whole = self.stored.get(handle, (None, False))
        if not isinstance(value, Traced) or not types.is_real(types.dtype_name(value.value)):
            self.stored.pop(handle, None)
        elif self.dialect.role(event) == "store":
            self.stored[handle] = value, True
        else:
            value = value if self.dialect.role(event) == "add" else self.m.neg(value)
            self.stored[handle] = value if before is None else self.m.add(before, value), whole

    def _read_stored(self, stored: Traced, whole: bool, array: Any) -> Traced:
        since = self.m.builder.next_id
        if not whole:
            before = array.astype(np.float64) - stored.value.astype(np.float64)
            stored = self.m.add(self.m.constant(before), stored)
        return self.m.settle_value(self.m.identity(stored), array, since, same=False)

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
        self._note(event, self._results(event))

    def _results(self, event: OpEvent) -> tuple[Known | None, ...]:
        xs = [self.tensor(value) for value in event.inputs]
        are_known = all(output.array is not None for output in event.outputs)
        if are_known and all(isinstance(x, Traced) and self._is_fact(x) for x in xs):
            return tuple(self._constant(output.array) for output in event.outputs)
        lowering = self.dialect.table.get(event.op)
        if lowering is not None and None not in xs and not any(isinstance(x, Unread) for x in xs):
            # Where it has no meaning as a whole, that of its steps stays.
            steps = tuple(self.nodes.get(output.id) for output in event.outputs)
            results = self._try(lowering, event, xs) or (None if None in steps else steps)
            if results is not None:
                return results
        return tuple(self._opaque(event, k, xs) for k in range(len(event.outputs)))

    def _is_fact(self, x: Traced) -> bool:
        """Integers that no decision of the program went into, such as shapes and axes."""
        return self.m.is_constant(x) and not _is_number(x)

    def _settled(self, result: Any, output: Value, since: int) -> Known | None:
        if isinstance(result, TensorList) or result is None:
            return result
        return None if output.array is None else self.m.settle_value(result, output.array, since)

    def _opaque(self, event: OpEvent, k: int, xs: list[Known | None]) -> Known | None:
        """What nothing known went into, such as the next example of a data set, is simply given."""
        known, array = [item for x in xs for item in tensors_in(x)], event.outputs[k].array
        if not known:
            return self._constant(array)
        if event.outputs[k].dtype == "variant":
            return Unread((self.m.opaque(self.dialect.spelled(event.op), known, np.zeros(())),))
        if array is None or not is_numeric(array):
            return None
        return self.m.opaque(self.dialect.spelled(event.op), known, array, self.dialect.kernel_of(event, k))

    def _try(self, lowering: Any, event: OpEvent, xs: list[Any]) -> tuple[Any, ...] | None:
        since = self.m.builder.next_id
        try:
            result = lowering(self.m, event, *xs)
            results = result if isinstance(result, tuple) else (result,)
            return tuple(self._settled(*pair, since) for pair in zip(results, event.outputs))
        except NotImplementedError:
            return None  # a variant of the op that has no lowering: opaque, and named so
        except Exception as error:  # a fault of ours costs this op its meaning, not the user the whole report
            self.faults.append(fault_reason(error, f"the meaning of {event.op}"))
            return None

    def tensor(self, value: Value) -> Known | None:
        if value.id in self.nodes:
            return self.nodes[value.id]
        if value.array is None or not is_numeric(value.array):
            return None
        source = self.leaf_sources.get(value.id)
        leaf = self._leaf(value) if source is None else self.m.input(value.array, source.name)
        if leaf is not None:
            self.nodes[value.id] = leaf
        return leaf

    def plain_target(self, k: int) -> Traced | None:
        """A target that no op has made, by the numbers it was computed from; None where it is not such a one."""
        value = self.call.targets[k].value
        is_known = value.id in self.nodes or value.id in self.leaf_sources
        if not self.view.returned or is_known or value.array is None:
            return None
        return self.comebacks.target(self.m, self.nodes, k, value.array)

    def _leaf(self, value: Value) -> Traced | None:
        """A constant, or numbers of the program that took a way around it."""
        if self._event is not None:
            self.leaves.append((self._event, value))
        if self.view.returned and self._event is not None:
            found = self.comebacks.connected(self.m, self.nodes, self._event, value)
            if found is not None:
                return found
        return self._constant(value.array)

    def _constant(self, array: Any) -> Traced | None:
        return None if array is None or not is_numeric(array) else self.m.constant(array)


def _is_number(x: Traced) -> bool:
    return not types.is_discrete(types.dtype_name(x.value))

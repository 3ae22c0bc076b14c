"""Raw events to frozen ones, with every function call taken apart into the ops of its graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from gradproof.frontends.exits.evidence import left_in
from gradproof.frontends.record.model import (
    RECORDED,
    RETURN_OP,
    CustomScope,
    FunctionCall,
    InnerCall,
    OpEvent,
    Phase,
    RuleRun,
    Value,
)
from gradproof.frontends.record.source import span_of
from gradproof.frontends.tensorflow.eager.hand_written import definition_of, library_of, line_of_rule
from gradproof.frontends.tensorflow.eager.recorder import RawEvent, RawInner, RawLeave, RawPullback, RawScope
from gradproof.frontends.tensorflow.eager.rule_matching import match_pullbacks
from gradproof.frontends.tensorflow.traced.autograph import own_spans
from gradproof.frontends.tensorflow.traced.functions import Expansion, FunctionRun, expand
from gradproof.frontends.tensorflow.traced.graph_events import PhaseOf, add_graph_events
from gradproof.frontends.tensorflow.traced.interpret import Step
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.values import (
    NOT_NUMBERS,
    UnknownTensor,
    optional_value_of,
    plain_attrs,
    value_of,
)


@dataclass(eq=False)
class EventProgram:
    """The frozen events of one gradient call while they are put together.

    An event's index is its place in `events`. `places` leads from the number a raw event had to that.
    """

    traces: Traces
    doubt: str | None = None
    events: list[OpEvent] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    scopes: list[CustomScope] = field(default_factory=list)
    inner: list[InnerCall] = field(default_factory=list)
    pullbacks: list[RuleRun] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    produced: set[int] = field(default_factory=set)
    graph_places: dict[tuple[int, str], int] = field(default_factory=dict)
    scope_ids: dict[tuple[int, str], int] = field(default_factory=dict)

    def place_of(self, number: int) -> int:
        """The index of the first event after something that has a number in the raw record."""
        return next((self.places[i] for i in sorted(self.places) if i > number), len(self.events))

    def add_raw(self, raw: RawEvent, call_id: int, whole: bool = False) -> None:
        """One eager op, or one call of a function, which is left `whole` or taken apart."""
        phase: Phase = "backward" if call_id in raw.within else "forward"
        if isinstance(raw.run, FunctionRun) and not whole:
            self.add_run(raw.run, raw, lambda step: phase)
        else:
            self._add_eager(raw, phase)
        self.places[raw.index] = len(self.events) - 1

    def _add_eager(self, raw: RawEvent, phase: Phase) -> None:
        self._add_reads(raw, phase)
        self._append(raw, phase, raw.op, raw.inputs, raw.outputs, plain_attrs(raw.op, raw.attrs))

    def _add_reads(self, raw: RawEvent, phase: Phase) -> None:
        """Tensors that TensorFlow read from variables by itself, as reads of their own."""
        if raw.reads is None:
            self.doubt = f"{raw.op} read a variable, and which of its inputs that is could not be followed"
        for place, handle in raw.reads or ():
            tensor = raw.inputs[place]
            if tensor._id not in self.produced:
                source = Value(handle, "resource", (), unknown=NOT_NUMBERS.format("resource"))
                attrs = {"dtype": tensor.dtype.name}
                self._append(raw, phase, "ReadVariableOp", (), (tensor,), attrs, (source,))

    def _append(
        self,
        raw: RawEvent,
        phase: Phase,
        op: str,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        attrs: Mapping[str, object],
        more: tuple[Value, ...] = (),
    ) -> None:
        self.produced.update(tensor._id for tensor in outputs)
        spans = own_spans(raw.places)
        self.events.append(
            OpEvent(
                len(self.events),
                op,
                (*more, *map(value_of, inputs)),
                tuple(map(value_of, outputs)),
                attrs,
                spans[0] if spans else None,
                spans,
                phase,
                raw.within,
                raw.tapes,
                raw.scope,
                raw.pullback,
                hidden_in=raw.hidden_in,
            )
        )

    def add_run(
        self,
        run: FunctionRun,
        raw: RawEvent | None,
        phase_of: PhaseOf,
        keep: Callable[[Step], bool] | None = None,
    ) -> None:
        """The ops of a function call; without them, if they are not to be had, the call as one op."""
        expansion = expand(run, self.traces)
        spans = own_spans(run.places)
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
                run.baked,
            )
        )
        if expansion.failure is not None:
            if raw is not None:
                self._add_eager(raw, phase_of(None))
            return
        add_graph_events(self, run, expansion, raw, phase_of, keep)
        if raw is not None:
            self._add_return(run, raw, expansion, phase_of(None))

    def _add_return(self, run: FunctionRun, raw: RawEvent, expansion: Expansion, phase: Phase) -> None:
        pairs = [
            (inner, outer)
            for inner, outer in zip(expansion.outputs, run.outputs)
            if inner is not None and inner._id != outer._id and not isinstance(inner, UnknownTensor)
        ]
        spans = own_spans(raw.places)
        self.produced.update(outer._id for outer in run.outputs)
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

    def add_scopes(self, raws: Iterable[RawScope], leaves: Sequence[RawLeave]) -> None:
        self.scopes += [_scope(raw, left_in(raw.id, leaves)) for raw in raws]

    def add_inner(self, raws: Iterable[RawInner]) -> None:
        for raw in raws:
            parts = (tuple(map(optional_value_of, part)) for part in (raw.targets, raw.weights, raw.results))
            self.inner.append(InnerCall(raw.api, *parts))

    def add_pullbacks(self, raws: Iterable[RawPullback], events: Sequence[RawEvent]) -> None:
        for raw, match in match_pullbacks(raws, events):
            self.pullbacks.append(
                RuleRun(
                    raw.id,
                    raw.op,
                    None if match is None else self.places.get(match.index),
                    raw.scope,
                    raw.parent,
                    tuple(optional_value_of(tensor) for tensor in raw.upstream),
                    tuple(optional_value_of(tensor) for tensor in raw.results),
                    raw.exception,
                    None if raw.raised_at is None else span_of(raw.raised_at),
                )
            )


def _scope(raw: RawScope, left: Iterable[RawLeave]) -> CustomScope:
    # Between what was recorded by hand there may be anything.
    outside = raw.inputs if raw.kind == RECORDED else tuple(one.tensor for one in left)
    return CustomScope(
        raw.id,
        raw.name,
        cast(Any, raw.kind),
        raw.parent,
        span_of(raw.places[0]) if raw.places else None,
        definition_of(raw.function),
        tuple(value_of(tensor) for tensor in raw.inputs),
        tuple(value_of(tensor) for tensor in raw.outputs),
        raw.variables,
        raw.complete,
        line_of_rule(raw.written),
        library_of(raw.function, raw.written) if raw.kind == "custom_gradient" else None,
        tuple(value_of(tensor) for tensor in outside),
    )

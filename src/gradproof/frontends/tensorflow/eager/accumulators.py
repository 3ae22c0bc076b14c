"""Forward mode: what `tf.autodiff.ForwardAccumulator` was given and what it returned."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, finalize

from tensorflow.python.eager import context, forwardprop
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.util import nest

from gradproof.frontends.record.model import GradientCall, Tape
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.sites import Site
from gradproof.frontends.record.source import user_places, with_span
from gradproof.frontends.tensorflow.eager.arguments import bind, call_text, operand_names
from gradproof.frontends.tensorflow.eager.freeze import (
    TapeEnding,
    failed_call,
    mode_of,
    observed,
    older,
    operands,
    program_of,
    unconnected,
    unseen,
)
from gradproof.frontends.tensorflow.eager.listening import Listener
from gradproof.frontends.tensorflow.eager.recorder import Collection, numbers
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.autograph import calling_frame, own_spans
from gradproof.frontends.tensorflow.traced.tracing import Traces, n_ops
from gradproof.frontends.tensorflow.values import optional_value_of


class AccumulatorState:
    """One accumulator that will be looked at."""

    def __init__(self, frame: FrameType, site: Site, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = bind("ForwardAccumulator", args, kwargs)
        self.collection = Collection(next(numbers))
        self.site = site
        self.places = user_places(frame)
        self.sources = operands(frame, "ForwardAccumulator", "primals", given["primals"])
        self.tangents = tuple(optional_value_of(t) for t in nest.flatten(given["tangents"]))


@dataclass(frozen=True, eq=False)
class TracedAccumulator:
    """One accumulator in a function that is being traced: what moves, under the user's names, and along what."""

    names: list[str]
    sources: list[Any]
    tangents: tuple[Any, ...]

    @staticmethod
    def of(frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TracedAccumulator:
        given = bind("ForwardAccumulator", args, kwargs)
        names = operand_names(frame, "ForwardAccumulator", "primals", given["primals"])
        return TracedAccumulator(
            names, nest.flatten(given["primals"]), tuple(nest.flatten(given["tangents"]))
        )


class Accumulators:
    """The hooks on `tf.autodiff.ForwardAccumulator`."""

    def __init__(self, observation: TensorFlowObservation, listener: Listener, traces: Traces) -> None:
        self._observation = observation
        self._recorder = observation.recorder
        self._listener = listener
        self._traces = traces
        self._states: WeakKeyDictionary[Any, AccumulatorState] = WeakKeyDictionary()
        self._traced: WeakKeyDictionary[Any, TracedAccumulator] = WeakKeyDictionary()

    def patches(self) -> list[Patch]:
        owner = forwardprop.ForwardAccumulator
        return [
            wrap(owner, "__init__", self._init),
            wrap(owner, "_push_accumulator", self._push),
            wrap(owner, "_pop_accumulator", self._pop),
            wrap(owner, "jvp", self._jvp),
        ]

    def _init(self, original: Any, accumulator: Any, *args: Any, **kwargs: Any) -> None:
        original(accumulator, *args, **kwargs)
        if self._recorder.quiet:
            return
        try:
            frame = calling_frame(sys._getframe(2))
            if not context.executing_eagerly():
                self._traced[accumulator] = TracedAccumulator.of(frame, args, kwargs)
                return
            site, wanted = self._observation.sites.begin((frame.f_code, frame.f_lasti))
            if wanted:
                with self._recorder.silence():
                    state = AccumulatorState(frame, site, args, kwargs)
                self._states[accumulator] = state
                self._recorder.collections.append(state.collection)
                finalize(accumulator, self._forget, state).atexit = False
            self._recorder.background = wanted
            self._listener.update()
        except Exception:
            self._observation.note_failure()

    def _push(self, original: Any, accumulator: Any) -> None:
        original(accumulator)
        state = self._states.get(accumulator)
        if state is not None:
            self._recorder.recording.append(state.collection.id)

    def _pop(self, original: Any, accumulator: Any) -> None:
        original(accumulator)
        state = self._states.get(accumulator)
        if state is not None and state.collection.id in self._recorder.recording:
            self._recorder.recording.remove(state.collection.id)

    def _jvp(self, original: Any, accumulator: Any, *args: Any, **kwargs: Any) -> Any:
        frame = calling_frame(sys._getframe(2))
        if accumulator in self._traced:
            result = original(accumulator, *args, **kwargs)
            self._note_traced(self._traced[accumulator], args, kwargs, result, frame)
            return result
        occurrence = self._observation.count((frame.f_code, frame.f_lasti))
        state = self._states.get(accumulator)
        error = None
        result = None
        try:
            result = original(accumulator, *args, **kwargs)
        except BaseException as raised:
            error = raised
            raise
        finally:
            if state is not None and not isinstance(error, KeyboardInterrupt):
                tape = Tape(state.collection.id, "accumulator", with_span(state.places))
                ending = TapeEnding(
                    next(numbers), "jvp", frame, args, kwargs, occurrence, tape, result, error
                )
                self._finish(state, ending)
        return result

    def _note_traced(
        self, of: TracedAccumulator, args: Any, kwargs: Any, result: Any, frame: FrameType
    ) -> None:
        """Inside a function that is being traced: the derivatives were computed along with the ops."""
        try:
            graph = tf_ops.get_default_graph()
            given = {**bind("jvp", args, kwargs), "sources": of.sources}
            tape = Tape(0, "accumulator", None)
            noted = self._traces.note_gradient(graph, n_ops(graph), "jvp", (), given, result, tape, frame)
            noted.source_names, noted.tangents = of.names, of.tangents
        except Exception:
            self._observation.note_failure()

    def _finish(self, state: AccumulatorState, ending: TapeEnding) -> None:
        try:
            with self._recorder.silence():
                call = self._build(state, ending)
        except Exception:
            call = failed_call(ending, self._observation.note_failure())
        self._observation.deliver(call)

    def _build(self, state: AccumulatorState, ending: TapeEnding) -> GradientCall:
        spans = own_spans(user_places(ending.frame))
        given = bind("jvp", ending.args, ending.kwargs)
        targets = operands(ending.frame, "jvp", "primals", given.get("primals"))
        ring = self._recorder.ring
        before = older(state.collection.events, ring, [target.value.id for target in targets], self._traces)
        program = program_of(state.collection, ending.id, self._traces, before)
        return GradientCall(
            id=ending.id,
            api="jvp",
            span=spans[0] if spans else None,
            stack=spans,
            through=call_text(spans),
            occurrence=ending.occurrence,
            mode=mode_of(program),
            tape=ending.tape,
            targets=targets,
            sources=state.sources,
            observed=observed(ending),
            observed_from="returned",
            tangents=state.tangents,
            unconnected_gradients=unconnected(given),
            events=tuple(program.events),
            older=before,
            unseen=unseen((*before, *program.events), ring, targets, state.sources),
            pullbacks=tuple(program.pullbacks),
            scopes=tuple(program.scopes),
            calls=tuple(program.calls),
            inner=tuple(program.inner),
            exception=None if ending.error is None else f"{type(ending.error).__name__}: {ending.error}",
            failure=state.collection.failure,
        )

    def _forget(self, state: AccumulatorState) -> None:
        self._recorder.collections[:] = [c for c in self._recorder.collections if c is not state.collection]
        state.collection.clear()

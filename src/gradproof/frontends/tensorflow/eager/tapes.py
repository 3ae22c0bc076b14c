"""Following the user's gradient tapes: which will be looked at, what they recorded, what they returned."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, finalize

from tensorflow.python.eager import backprop, context
from tensorflow.python.util import nest

from gradproof.frontends.record.model import GradientCall, OpenTape, Tape
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.sites import Site
from gradproof.frontends.record.source import first_user_frame, span_of, user_places, with_span
from gradproof.frontends.tensorflow.after.unused_rules import UntriedRules
from gradproof.frontends.tensorflow.eager.call_sites import call_site, is_internal
from gradproof.frontends.tensorflow.eager.finite import all_finite
from gradproof.frontends.tensorflow.eager.freeze import (
    TapeEnding,
    build_call,
    build_open,
    failed_call,
    note_inner,
)
from gradproof.frontends.tensorflow.eager.listening import Listener
from gradproof.frontends.tensorflow.eager.other_calls import without_other_calls
from gradproof.frontends.tensorflow.eager.recorder import Collection, numbers
from gradproof.frontends.tensorflow.eager.tape_state import TapeState
from gradproof.frontends.tensorflow.eager.zero_filling import without_fillings
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.autograph import calling_frame, spans_at
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.values import variable_of

_METHODS = ("gradient", "jacobian", "batch_jacobian")


class Tapes:
    """The hooks on `tf.GradientTape`."""

    def __init__(
        self, observation: TensorFlowObservation, listener: Listener, traces: Traces, untried: UntriedRules
    ) -> None:
        self._observation = observation
        self._recorder = observation.recorder
        self._listener = listener
        self._traces = traces
        self._untried = untried
        self._states: WeakKeyDictionary[Any, TapeState] = WeakKeyDictionary()
        self._unchecked: WeakKeyDictionary[Any, Site] = WeakKeyDictionary()

    def patches(self) -> list[Patch]:
        tape = backprop.GradientTape
        notes = {
            "__enter__": self._on_enter,
            "_push_tape": self._on_push,
            "_pop_tape": self._on_pop,
            "watch": self._on_watch,
            "reset": self._on_reset,
            "stop_recording": self._on_stop,
        }
        plain = [wrap(tape, name, partial(self._then, note)) for name, note in notes.items()]
        return plain + [wrap(tape, api, partial(self._gradient, api)) for api in _METHODS]

    def _then(self, note: Callable[..., None], original: Any, tape: Any, *args: Any, **kwargs: Any) -> Any:
        """Do as TensorFlow does, then take a note of it."""
        result = original(tape, *args, **kwargs)
        try:
            note(tape, args, calling_frame(sys._getframe(2)))
        except Exception:
            self._observation.note_failure()
        return result

    def _on_enter(self, tape: Any, args: Any, frame: FrameType) -> None:
        """Decide here whether this execution will be looked at: later the forward ops are gone."""
        if self._recorder.quiet or is_internal(frame.f_code.co_filename) or not context.executing_eagerly():
            return
        known = self._states.get(tape)
        if tape in self._unchecked or (known is not None and (known.persistent or not known.consumed)):
            return  # entered a second time: it goes on with what it has
        user = first_user_frame(frame) or frame
        site, wanted = self._observation.sites.begin(
            (frame.f_code, frame.f_lineno, user.f_code, user.f_lineno)
        )
        recorder = self._recorder
        if wanted:
            state = TapeState(
                Collection(next(numbers)),
                site,
                user_places(frame),
                tape._persistent,
                tape._watch_accessed_variables,
            )
            self._states[tape] = state
            recorder.collections.append(state.collection)
            recorder.recording.append(state.id)
            finalize(tape, self._drop, state).atexit = False
        else:
            self._unchecked[tape] = site
        recorder.background = wanted
        self._listener.update()

    def _on_push(self, tape: Any, args: Any, frame: FrameType) -> None:
        state = self._states.get(tape)
        if state is None and not context.executing_eagerly():
            self._traces.tapes.push(tape)
        if state is not None and state.id not in self._recorder.recording:
            self._recorder.recording.append(state.id)
            if state.collection not in self._recorder.collections:
                self._recorder.collections.append(state.collection)
                self._listener.update()

    def _on_pop(self, tape: Any, args: Any, frame: FrameType) -> None:
        state = self._states.get(tape)
        if state is None:
            self._traces.tapes.pop(tape)
        if state is not None and state.id in self._recorder.recording:
            self._recorder.recording.remove(state.id)
            # A Jacobian enters and leaves its own tape, and what it runs then is still its own.
            if state.consumed and not self._recorder.within_api:
                self._pause(state)
                self._listener.update()

    def _pause(self, state: TapeState) -> None:
        collections = self._recorder.collections
        collections[:] = [one for one in collections if one is not state.collection]

    def _on_watch(self, tape: Any, args: Any, frame: FrameType) -> None:
        state = self._states.get(tape)
        tensors = [getattr(one, "handle", one) for one in nest.flatten(args, expand_composites=True)]
        if state is not None:
            state.watched += [(tensor._id, user_places(frame)) for tensor in tensors]
        elif not context.executing_eagerly():
            self._traces.tapes.watch(tape, tensors, next(iter(spans_at(frame)), None))

    def _on_reset(self, tape: Any, args: Any, frame: FrameType) -> None:
        state = self._states.get(tape)
        if state is None:
            self._traces.tapes.reset(tape)
        else:
            state.reset_at.append((next(numbers), user_places(frame)))
            state.watched.clear()
            state.collection.forget()

    def _on_stop(self, tape: Any, args: Any, frame: FrameType) -> None:
        state = self._states.get(tape)
        if state is not None:
            state.stopped_at += user_places(frame)[:1]

    def _drop(self, state: TapeState) -> None:
        """The tape is gone, or used up. This may happen anywhere, so that no op may run here."""
        recorder = self._recorder
        recorder.collections[:] = [c for c in recorder.collections if c is not state.collection]
        recorder.recording[:] = [i for i in recorder.recording if i != state.id]
        state.collection.clear()

    def open_tapes(self) -> list[OpenTape]:
        """The tapes that are alive and were never asked for a gradient."""
        found = []
        for tape, state in list(self._states.items()):
            if not state.consumed:
                with self._recorder.silence():
                    found.append(build_open(self._facts(tape, state), state.collection, self._traces))
        return found

    def _gradient(self, api: str, original: Any, tape: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = self._recorder
        frame = calling_frame(sys._getframe(2))
        if recorder.quiet or recorder.within_api or is_internal(frame.f_code.co_filename):
            return original(tape, *args, **kwargs)
        if not context.executing_eagerly():
            return self._traces.gradient(api, original, tape, args, kwargs, frame)
        state = self._states.get(tape)
        if state is None:
            return self._run_unchecked(original, tape, args, kwargs, frame)
        return self._run(api, original, tape, state, args, kwargs, frame)

    def _run_unchecked(self, original: Any, tape: Any, args: Any, kwargs: Any, frame: FrameType) -> Any:
        self._observation.count(call_site(frame))
        with self._inside():
            result = original(tape, *args, **kwargs)
        site = self._unchecked.get(tape) if tape._persistent else self._unchecked.pop(tape, None)
        if site is not None:
            try:
                if not all_finite(result):
                    site.nonfinite_unchecked += 1
                    site.suspicious = True
            except Exception:
                self._observation.note_failure()
        return result

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Gradient calls that a gradient call makes itself (a Jacobian makes many) are part of it."""
        self._recorder.within_api += 1
        try:
            yield
        finally:
            self._recorder.within_api -= 1

    def _run(
        self, api: str, original: Any, tape: Any, state: TapeState, args: Any, kwargs: Any, frame: FrameType
    ) -> Any:
        recorder = self._recorder
        site = call_site(frame)
        occurrence = self._observation.count(site)
        held = state.held.setdefault(site, [])
        held += [len(state.collection.events)] if tape._recording else []
        if state.persistent and not self._observation.policy(occurrence):
            state.site.skipped += 1
            return self._run_on(original, tape, state, args, kwargs)
        facts = replace(self._facts(tape, state), held=tuple(held))
        ending = TapeEnding(next(numbers), api, frame, args, kwargs, occurrence, facts)
        if state.collection not in recorder.collections:
            recorder.collections.append(state.collection)
            self._listener.update()
        recorder.within.append(ending.id)
        try:
            with self._inside():
                ending.result = original(tape, *args, **kwargs)
        except BaseException as error:
            ending.error = error
            raise
        finally:
            recorder.within.remove(ending.id)
            try:
                # What Ctrl-C has ended is no gradient, and who pressed it does not want to wait for a check.
                if not isinstance(ending.error, KeyboardInterrupt):
                    self._hand_over(state, ending)
            finally:  # Ctrl-C may come here as well, and the program may go on after it
                self._finish(state)
        return ending.result

    def _run_on(self, original: Any, tape: Any, state: TapeState, args: Any, kwargs: Any) -> Any:
        """One of many calls of a place that asks the same tape again: what it ran may belong to the next one."""
        with self._inside():
            result = original(tape, *args, **kwargs)
        if not all_finite(result):
            state.site.nonfinite_unchecked += 1
        return result

    def _hand_over(self, state: TapeState, ending: TapeEnding) -> None:
        try:
            with self._recorder.silence():
                call = self._observation.build(
                    lambda: self._built(state, ending), lambda reason: failed_call(ending, reason)
                )
                note_inner(self._recorder, ending.api, ending.args, ending.kwargs, ending.result)
        except Exception:
            call = failed_call(ending, self._observation.note_failure())
        if call is not None:
            self._observation.deliver(call)

    def _built(self, state: TapeState, ending: TapeEnding) -> GradientCall:
        with self._recorder.silence():
            own = without_other_calls(state.collection, ending.id, (ending.args, ending.kwargs))
            call = without_fillings(build_call(ending, own, self._recorder.ring, self._traces))
            self._untried.keep(call, own)
            return call

    def _finish(self, state: TapeState) -> None:
        state.consumed = True
        self._recorder.background = self._observation.sites.wants_next(state.site)
        if state.persistent and state.id in self._recorder.recording:
            pass  # its block goes on: what follows belongs to the next call
        elif state.persistent:
            # The forward record stays for the next call; only the ops of such a call are added to it.
            self._pause(state)
        else:
            self._drop(state)
        self._listener.update()

    def _facts(self, tape: Any, state: TapeState) -> Tape:
        variables = tape.watched_variables() if tape._tape is not None else ()
        return Tape(
            state.id,
            "tape",
            with_span(state.entered),
            state.persistent,
            state.watch_accessed_variables,
            tuple((i, span_of(places[0]) if places else None) for i, places in state.watched),
            tuple(variable_of(v).id for v in variables),
            state.consumed,
            tuple((i, span_of(places[0]) if places else None) for i, places in state.reset_at),
            tuple(span_of(place) for place in state.stopped_at),
        )

"""Gradients that TensorFlow takes of a whole function: `gradients_function`, `implicit_grad`, `make_vjp`.

`tf.test.compute_gradient` asks them row by row; what its differences gave is put beside each row.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np
from tensorflow.python.eager import backprop, context, imperative_grad
from tensorflow.python.ops import gradient_checker_v2
from tensorflow.python.util import tf_decorator

from gradproof.frontends.check.request import name_of
from gradproof.frontends.record.model import GradientCall, Operand, Tape
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import Place, first_user_frame, user_places, with_span
from gradproof.frontends.tensorflow.eager.freeze import TapeEnding, build_call, failed_call, note_inner
from gradproof.frontends.tensorflow.eager.listening import Listener
from gradproof.frontends.tensorflow.eager.recorder import Collection, numbers
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.values import variable_of
from gradproof.ir.surroundings import Differences

ALL_ROWS = 32  # a Jacobian of so many rows is looked at row by row; of a larger one some rows are


@dataclass(eq=False)
class FunctionState:
    """One function whose gradient will be looked at: what its tape recorded, and what it is asked for."""

    function: Callable[..., Any]
    collection: Collection
    entered: tuple[Place, ...]
    sources: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Check:
    """A check by differences that is under way for one argument: whether all its rows are wanted, and their records."""

    wants_all: bool
    calls: list[GradientCall] = field(default_factory=list)


class _RequestsUnderWay(threading.local):
    """What a thread is asking for, innermost last."""

    def __init__(self) -> None:
        self.asking: list[FunctionState] = []
        self.checks: list[_Check] = []


class FunctionGradients:
    """The hooks on TensorFlow's own functions that differentiate functions."""

    def __init__(self, observation: TensorFlowObservation, listener: Listener, traces: Traces) -> None:
        self._observation = observation
        self._recorder = observation.recorder
        self._listener = listener
        self._traces = traces
        self._under_way = _RequestsUnderWay()

    def patches(self) -> list[Patch]:
        return [
            wrap(backprop, "make_vjp", self._make_vjp),
            wrap(backprop, "implicit_val_and_grad", self._implicit),
            wrap(imperative_grad, "imperative_grad", self._gradient),
            wrap(gradient_checker_v2, "_compute_gradient", self._compute_gradient),
        ]

    def _make_vjp(self, original: Any, f: Any, params: Any = None, persistent: bool = True) -> Any:
        def decorated(*args: Any, **kwds: Any) -> Any:
            state = self._begin(f, sys._getframe(1))
            if state is None:
                return original(f, params, persistent)(*args, **kwds)
            positions = list(backprop._get_arg_spec(f, params, args))

            def followed(*given: Any) -> Any:
                # What made the arguments into tensors, one each, ran before any of them was watched.
                state.collection.forget()
                state.sources = [given[k] for k in positions]
                state.names = _parameter_names(f, positions)
                return f(*given)

            with self._recording(state):
                result, vjp = original(followed, positions, persistent)(*args, **kwds)

            def asked(dy: Any = None) -> Any:
                with self._asked(state):
                    return vjp(dy)

            return result, asked

        return decorated

    def _implicit(self, original: Any, f: Any) -> Any:
        def grad_fn(*args: Any, **kwds: Any) -> Any:
            state = self._begin(f, sys._getframe(1))
            if state is None:
                return original(f)(*args, **kwds)

            def followed(*given: Any, **named: Any) -> Any:
                with self._recording(state):
                    return f(*given, **named)

            with self._asked(state):
                return original(followed)(*args, **kwds)

        return grad_fn

    def _begin(self, f: Any, frame: FrameType) -> FunctionState | None:
        """Decided when the function is called; None where this execution is not looked at."""
        recorder = self._recorder
        if recorder.quiet or recorder.within_api or not context.executing_eagerly():
            return None
        user = first_user_frame(frame) or frame
        site, wanted = self._observation.sites.begin(("function", user.f_code, user.f_code, user.f_lineno))
        if not wanted and self._under_way.checks and self._under_way.checks[-1].wants_all:
            site.skipped -= 1
        elif not wanted:
            self._observation.count((user.f_code, user.f_lasti))
            return None
        return FunctionState(f, Collection(next(numbers)), user_places(frame))

    @contextmanager
    def _recording(self, state: FunctionState) -> Iterator[None]:
        recorder = self._recorder
        recorder.collections.append(state.collection)
        recorder.recording.append(state.collection.id)
        self._listener.update()
        try:
            yield
        finally:
            recorder.recording.remove(state.collection.id)
            recorder.collections[:] = [c for c in recorder.collections if c is not state.collection]

    @contextmanager
    def _asked(self, state: FunctionState) -> Iterator[None]:
        self._under_way.asking.append(state)
        try:
            yield
        finally:
            self._under_way.asking.remove(state)
            self._listener.update()

    def _gradient(
        self,
        original: Any,
        tape: Any,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        *rest: Any,
        **more: Any,
    ) -> Any:
        caller = sys._getframe(2)
        is_own = caller.f_code.co_filename == backprop.__file__ and caller.f_code.co_name in (
            "vjp",
            "grad_fn",
        )
        if not self._under_way.asking or not is_own or self._recorder.quiet:
            return original(tape, target, sources, output_gradients, *rest, **more)
        state, recorder = self._under_way.asking[-1], self._recorder
        frame = first_user_frame(caller) or caller
        occurrence = self._observation.count((frame.f_code, frame.f_lasti))
        wanted = state.sources or list(tape.watched_variables())
        facts = _facts(state, wanted)
        asked = {"output_gradients": output_gradients}
        ending = TapeEnding(
            next(numbers), "gradient", frame, (list(target), wanted), asked, occurrence, facts
        )
        recorder.collections.append(state.collection)
        recorder.within.append(ending.id)
        recorder.within_api += 1
        try:
            ending.result = original(tape, target, sources, output_gradients, *rest, **more)
        except BaseException as error:
            ending.error = error
            raise
        finally:
            recorder.within_api -= 1
            recorder.within.remove(ending.id)
            recorder.collections[:] = [c for c in recorder.collections if c is not state.collection]
            if not isinstance(ending.error, KeyboardInterrupt):
                self._hand_over(state, ending)
        return ending.result

    def _hand_over(self, state: FunctionState, ending: TapeEnding) -> None:
        try:
            with self._recorder.silence():
                call = build_call(ending, state.collection, self._recorder.ring, self._traces)
                note_inner(self._recorder, "gradient", ending.args, ending.kwargs, ending.result)
            call = _named(call, state)
        except Exception:
            call = failed_call(ending, self._observation.note_failure())
        if self._under_way.checks:
            self._under_way.checks[-1].calls.append(call)
        else:
            self._observation.deliver(call)

    def _compute_gradient(
        self, original: Any, f: Any, y_shape: Any, y_dtype: Any, xs: Any, param: Any, delta: Any
    ) -> Any:
        """One argument of `tf.test.compute_gradient`: the rows are handed over when their differences are known."""
        n_rows = int(np.prod([int(n) for n in y_shape], dtype=np.int64))
        check = _Check(n_rows <= ALL_ROWS)
        self._under_way.checks.append(check)
        numeric = None
        try:
            result = original(f, y_shape, y_dtype, xs, param, delta)
            numeric = None if y_dtype.is_complex or xs[param].dtype.is_complex else result[1]
            return result
        finally:
            self._under_way.checks.remove(check)
            rows = (
                numeric
                if numeric is not None and len(numeric) == len(check.calls)
                else [None] * len(check.calls)
            )
            for row, call in zip(rows, check.calls):
                beside = None if row is None else Differences(float(delta), "delta", row)
                self._observation.deliver(replace(call, differences=beside))


def _facts(state: FunctionState, sources: Sequence[Any]) -> Tape:
    variables = [one for one in sources if hasattr(one, "handle")]
    tensors = [one for one in sources if not hasattr(one, "handle")]
    return Tape(
        state.collection.id,
        "tape",
        with_span(state.entered),
        persistent=True,
        watched=tuple((tensor._id, None) for tensor in tensors),
        watched_variables=tuple(variable_of(v).id for v in variables),
    )


def _named(call: GradientCall, state: FunctionState) -> GradientCall:
    """Under the names of the function and its parameters: no line of the user's names these tensors."""
    name = name_of(tf_decorator.unwrap(state.function)[1])
    targets = tuple(
        replace(one, name=name if len(call.targets) == 1 else f"{name}[{k}]")
        for k, one in enumerate(call.targets)
    )
    return replace(call, targets=targets, sources=tuple(_renamed(call.sources, state.names)))


def _renamed(sources: Sequence[Operand], names: Sequence[str]) -> Iterator[Operand]:
    for k, one in enumerate(sources):
        own = None if one.variable is None else one.variable.path or one.variable.name.removesuffix(":0")
        yield replace(one, name=names[k] if k < len(names) else own or one.name)


def _parameter_names(f: Any, positions: Sequence[int]) -> list[str]:
    code = getattr(tf_decorator.unwrap(f)[1], "__code__", None)
    own = () if code is None else code.co_varnames[: code.co_argcount]
    own = own[1:] if own[:1] == ("self",) else own
    return [own[k] if k < len(own) else f"argument {k + 1}" for k in positions]

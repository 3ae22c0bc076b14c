"""Turning TensorFlow's op callback on while there is something to listen to, and off again.

An op costs nothing extra while it is off. The callback belongs to the thread; the function that
TensorFlow calls
for the gradient of an op belongs to the process, and passes straight through for threads that do not listen.
"""

from __future__ import annotations

import os
import sys
from threading import Lock
from types import FrameType
from typing import Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, context
from tensorflow.python.framework import op_callbacks

from gradproof.frontends.record.source import first_user_frame, is_users, users_place
from gradproof.frontends.tensorflow.eager import reads
from gradproof.frontends.tensorflow.eager.recorder import IDLE_EVENTS, RawPullback, Recorder, numbers
from gradproof.frontends.tensorflow.eager.remembered import remembered
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.tracing import Traces

_TENSOR_METHODS = {
    "numpy": "numpy()",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "index",
    "__bool__": "bool()",
    "__complex__": "complex()",
    "__array__": "array",
    "__format__": "format",
}
# Functions of libraries that hand numbers of tensors to code outside TensorFlow: file and name, what the user wrote.
_LIBRARY_DOORS = {
    ("core.py", "convert_to_numpy"): "numpy()",
    ("script_ops.py", "py_func_common"): "tf.numpy_function",
    ("script_ops.py", "<listcomp>"): "tf.numpy_function",  # before Python 3.12 a frame of its own
}


class Listener:
    """Listens for one observation."""

    def __init__(self, observation: TensorFlowObservation, traces: Traces) -> None:
        self._observation = observation
        self._traces = traces
        self._gradient_function = backprop._gradient_function
        self._n_threads = 0
        self._counting = Lock()
        self._closed = False

    def update(self) -> None:
        """Listen exactly if a tape that will be looked at is alive, or the ring is wanted."""
        recorder = self._observation.recorder
        wanted = not self._closed and (bool(recorder.collections) or recorder.background)
        if wanted and not recorder.listening:
            self._start(recorder)
        elif recorder.listening and not wanted:
            self.stop()

    def _start(self, recorder: Recorder) -> None:
        op_callbacks.add_op_callback(self.on_op)
        recorder.listening = True
        with self._counting:
            self._n_threads += 1
            if self._n_threads == 1:
                pywrap_tfe.TFE_Py_RegisterGradientFunction(self.on_gradient)
                reads.follow()

    def close(self) -> None:
        """Stop for good: a tape may outlive the observation, and a thread may have ended while it was listened to."""
        self._closed = True
        self.stop()
        self._leave(self._n_threads)

    def _leave(self, n_threads: int) -> None:
        """So many threads are no longer listened to; with the last of them TensorFlow has its own functions back."""
        with self._counting:
            left, self._n_threads = self._n_threads, max(self._n_threads - n_threads, 0)
            if left and not self._n_threads:
                pywrap_tfe.TFE_Py_RegisterGradientFunction(self._gradient_function)
                reads.unfollow()

    def stop(self) -> None:
        recorder = self._observation.recorder
        if not recorder.listening:
            return
        recorder.listening = False
        if self.on_op in context.context().op_callbacks:
            op_callbacks.remove_op_callback(self.on_op)
        recorder.ring.clear()
        self._leave(1)

    def on_op(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        """TensorFlow's callback: an op has run, or has been added to a graph.

        What one callback returns the next one is given, and the program: so another's gets what it would without us.
        """
        self._hear(op_type, inputs, attrs, outputs, graph, sys._getframe(1))
        return outputs if len(context.context().op_callbacks) > 1 else None

    def _hear(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, graph: Any, frame: FrameType
    ) -> None:
        recorder = self._observation.recorder
        if recorder.quiet:
            return
        try:
            op = op_type.decode() if isinstance(op_type, bytes) else op_type
            if graph is not None:
                self._traces.on_graph_op(graph, outputs, frame)
                return
            stopped = pywrap_tfe.TFE_Py_TapeSetIsStopped()
            recorder.add(op, tuple(inputs), attrs or (), tuple(outputs or ()), stopped)
            if recorder.idle > IDLE_EVENTS:
                recorder.background = False
            if not recorder.collections and not recorder.background:
                self.update()
        except Exception:
            self._observation.note_failure()

    def on_gradient(self, op: Any, attrs: Any, n_inputs: Any, inputs: Any, outputs: Any, *rest: Any) -> Any:
        """TensorFlow asks for the gradient of one recorded op; `rest` begins with the upstream gradients."""
        recorder = self._observation.recorder
        if recorder.quiet:
            return self._gradient_function(op, attrs, n_inputs, inputs, outputs, *rest)
        if not context.executing_eagerly():
            first = self._traces.position()
            results = self._gradient_function(op, attrs, n_inputs, inputs, outputs, *rest)
            self._traces.note_rule(first, op, inputs, outputs, rest[0], results)
            return results
        if not recorder.collections:
            return self._gradient_function(op, attrs, n_inputs, inputs, outputs, *rest)
        took, gave, upstream = (tuple(map(remembered, part or ())) for part in (inputs, outputs, rest[0]))
        pullback = RawPullback(next(numbers), str(op), took, gave, upstream)
        return run_pullback(
            recorder,
            pullback,
            lambda: self._gradient_function(op, attrs, n_inputs, inputs, outputs, *rest),
        )

    def on_numpy(self, original: Any, tensor: Any) -> Any:
        """In the place of the method by which every Python conversion of a tensor goes."""
        recorder = self._observation.recorder
        if recorder.collections and not recorder.quiet:
            try:
                _note_leave(recorder, tensor, sys._getframe(2))
            except Exception:
                self._observation.note_failure()
        return original(tensor)


def run_pullback(recorder: Recorder, pullback: RawPullback, rule: Any) -> Any:
    """Run a gradient rule, keeping what went in and what came out."""
    pullback.parent = recorder.pullbacks[-1].id if recorder.pullbacks else None
    pullback.tapes, pullback.within = tuple(recorder.recording), tuple(recorder.within)
    for collection in recorder.collections:
        collection.pullbacks.append(pullback)
    recorder.pullbacks.append(pullback)
    try:
        results = rule()
    except BaseException as error:
        pullback.exception = f"{type(error).__name__}: {error}"
        pullback.raised_at = users_place(error.__traceback__)
        raise
    finally:
        recorder.pullbacks.pop()
    given = results if isinstance(results, list | tuple) else (results,)
    pullback.results = tuple(map(remembered, given))
    return results


def _note_leave(recorder: Recorder, tensor: Any, frame: Any) -> None:
    """Only what the user's own code asked for: TensorFlow reads its own constants in the same way."""
    how = _TENSOR_METHODS.get(frame.f_code.co_name)
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename.endswith("resource_variable_ops.py"):
        how = _TENSOR_METHODS.get(caller.f_code.co_name, how)
        caller = caller.f_back
    door = None if caller is None else _LIBRARY_DOORS.get(_function_of(caller))
    if door is not None:
        how, caller = door, first_user_frame(caller)
    if how is not None and caller is not None and is_users(caller.f_code.co_filename):
        recorder.leave(how, tensor, caller)


def _function_of(frame: FrameType) -> tuple[str, str]:
    return os.path.basename(frame.f_code.co_filename), frame.f_code.co_name

"""`tf.gradients` while a graph is built."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops import gradients_util
from tensorflow.python.util import nest

from gradproof.frontends.record.model import Tape
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import user_places
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.autograph import calling_frame, own_spans
from gradproof.frontends.tensorflow.traced.tracing import Traces, n_ops
from gradproof.frontends.tensorflow.traced.unseen_calls import deliver_raised

_PUBLIC_FILE = "gradients_impl.py"  # everybody else calls the helper for TensorFlow's own purposes


class GraphGradients:
    """The hook on the helper behind `tf.gradients`."""

    def __init__(self, observation: TensorFlowObservation, traces: Traces) -> None:
        self._observation = observation
        self._traces = traces

    def patches(self) -> list[Patch]:
        return [wrap(gradients_util, "_GradientsHelper", self._helper)]

    def _helper(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(2)
        recorder = self._observation.recorder
        if recorder.quiet or recorder.within_api or not frame.f_code.co_filename.endswith(_PUBLIC_FILE):
            return original(*args, **kwargs)
        graph = tf_ops.get_default_graph()
        first = n_ops(graph)
        try:
            result = original(*args, **kwargs)
        except Exception as error:
            self._note_raised(frame, error)
            raise
        try:
            # The user's call is that of `tf.gradients`, one frame further out.
            given = dict(zip(("ys", "xs", "grad_ys"), args))
            given["unconnected_gradients"] = args[8] if len(args) > 8 else "none"
            caller = calling_frame(frame.f_back or frame)
            tape = Tape(0, "graph", None)
            gradient = self._traces.note_gradient(graph, first, "gradients", (), given, result, tape, caller)
            stops = nest.flatten(args[7]) if len(args) > 7 and args[7] is not None else []
            gradient.stopped = tuple(one for one in stops if getattr(one, "graph", None) is graph)
        except Exception:
            self._observation.note_failure()
        return result

    def _note_raised(self, frame: FrameType, error: Exception) -> None:
        """Outside of a graph `tf.gradients` refuses; a call that raised is an entry too."""
        if context.executing_eagerly():
            spans = own_spans(user_places(frame))
            text = f"{type(error).__name__}: {error}"
            deliver_raised(self._observation, Tape(0, "graph", None), spans, text, when="")

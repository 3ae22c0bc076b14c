"""Functions whose tracing ended with an exception: the graph as far as it got says why their gradients are None.

Keras raises "No gradients provided for any variable" while it traces a training step, so that no step ever runs.
What a missing gradient was lost in does not depend on the numbers: the ops of the graph are enough to name it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.assemble.captures import only
from gradproof.frontends.record.source import user_places
from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.feeds import Feeds
from gradproof.frontends.tensorflow.traced.functions import Expansion, FunctionRun, variables_by_name
from gradproof.frontends.tensorflow.traced.graph_calls import build
from gradproof.frontends.tensorflow.traced.interpret import Frame, GraphInterpreter
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.traced.variable_copies import StandIns, snapshot
from gradproof.frontends.tensorflow.values import UnknownTensor, unrecorded

NEVER_RAN = "the function was never run: tracing it ended with an exception"


class StoppedTraces:
    """The traces that an exception ends."""

    def __init__(self, observation: TensorFlowObservation, traces: Traces) -> None:
        self._observation = observation
        self._traces = traces

    @contextmanager
    def around(self) -> Iterator[None]:
        """To be put around each trace."""
        before = self._traces.graph_of_last
        try:
            yield
        except Exception:
            graph = self._traces.graph_of_last
            if graph is not None and graph is not before and not self._observation.recorder.quiet:
                # Once: the exception goes on through the traces of the functions around this one.
                self._traces.graph_of_last = before
                self._deliver(graph, sys._getframe())
            raise

    def _deliver(self, graph: Any, frame: FrameType | None) -> None:
        try:
            notes = self._traces.of(graph)
            lost = [one for one in notes.gradients if any(result is None for result in one.results)]
            if not lost:
                return
            with self._observation.recorder.silence(), unrecorded():
                run, inner = _interpreted(graph, self._traces, frame)
                calls = [build(self._observation, self._traces, run, inner, gradient) for gradient in lost]
            for gradient, call in zip(lost, calls):
                self._observation.count(gradient.key)
                missing = [k for k, seen in enumerate(call.observed) if seen is None]
                self._observation.deliver(replace(only(call, missing), doubt=NEVER_RAN))
        except Exception:
            self._observation.note_failure()


def _interpreted(graph: Any, traces: Traces, frame: FrameType | None) -> tuple[FunctionRun, Frame]:
    """A graph run op by op as far as it can be without the arguments that it never got."""
    outer = [tensor for tensor, _ in graph.captures if isinstance(tensor, tf_ops.EagerTensor)]
    held, standins = snapshot(outer), StandIns()
    replaced = dict(zip((tensor._id for tensor in outer), standins.replace(outer, held)))
    inner = Frame(graph)
    for tensor, symbol in graph.captures:
        unknown = UnknownTensor(NEVER_RAN, symbol.dtype, symbol.shape)
        inner.env[symbol._id] = replaced.get(getattr(tensor, "_id", None), unknown)
    for operation in graph.get_operations():
        if operation.type == "Placeholder" and operation.outputs[0]._id not in inner.env:
            symbol = operation.outputs[0]
            inner.env[symbol._id] = UnknownTensor(NEVER_RAN, symbol.dtype, symbol.shape)
    interpreter = GraphInterpreter(traces.wanted, {})
    interpreter.run(inner, (), (), {})
    run = FunctionRun(
        next(numbers), str(graph.name), graph, tuple(outer), held, Feeds(), user_places(frame), "graph",
        variables_by_name(frame),
    )  # fmt: skip
    run.expansion = Expansion(interpreter.result, (), standins.originals, standins.first)
    return run, inner

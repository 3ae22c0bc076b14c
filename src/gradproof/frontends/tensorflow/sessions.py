"""`tf.compat.v1.Session.run`: the gradients of a graph, from what was fed, what the variables held, what was fetched.

The session's own run is left as it is. Before it the variables are read, after it the ops behind the gradients are run
one by one from the same numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tensorflow.python.client import session as session_lib
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op, errors
from tensorflow.python.framework import tensor as tf_tensor
from tensorflow.python.util import nest

from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import user_places
from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.feeds import Feeds
from gradproof.frontends.tensorflow.traced.functions import FunctionRun
from gradproof.frontends.tensorflow.traced.subgraphs import ancestors
from gradproof.frontends.tensorflow.traced.tracing import GraphGradient, Traces, components
from gradproof.frontends.tensorflow.traced.unseen_calls import failed_call
from gradproof.frontends.tensorflow.traced.variable_copies import make_variable

VARIABLES = {"VariableV2", "Variable"}  # of the older kind, whose tensor is the variable
_THROUGH_RUN = "_generic_run"  # the callable that TensorFlow makes where it can do no better than `run`
_OUT_OF_SIGHT = "it is computed by `{}` of a session, which runs the graph out of sight"


@dataclass(frozen=True, eq=False)
class _Asked:
    """What one choice of fetches computes: the gradients, and the variables they depend on with a way to read each."""

    gradients: list[GraphGradient]
    handles: list[tuple[Any, Any]]
    fetched: list[Any]


class Sessions:
    """The hook on every run of a session."""

    def __init__(
        self,
        observation: TensorFlowObservation,
        traces: Traces,
        emit: Callable[[FunctionRun, Sequence[GraphGradient]], None],
    ) -> None:
        self._observation = observation
        self._traces = traces
        self._emit = emit

    def patches(self) -> list[Patch]:
        owner = session_lib.BaseSession
        unseen = ("make_callable", "partial_run_setup")
        return [wrap(owner, "run", self._run), *(wrap(owner, name, self._unseen(name)) for name in unseen)]

    def _run(self, original: Any, session: Any, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        run, asked = None, None
        try:
            asked = self._wanted(session.graph, fetches)
            if asked is not None:
                feeds = args[0] if args else kwargs.get("feed_dict")
                run = self._prepare(original, session, asked, feeds or {})
        except Exception:
            self._observation.note_failure()
        result = original(session, fetches, *args, **kwargs)
        if run is not None and asked is not None:
            try:
                self._conclude(run, asked, nest.flatten(result, expand_composites=True))
            except Exception:
                self._observation.note_failure()
        return result

    def _unseen(self, name: str) -> Any:
        def setup(original: Any, session: Any, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(session, fetches, *args, **kwargs)
            try:
                runs_itself = getattr(result, "__name__", None) != _THROUGH_RUN
                asked = self._wanted(session.graph, fetches) if runs_itself else None
                for gradient in () if asked is None else asked.gradients:
                    reason = _OUT_OF_SIGHT.format(name)
                    self._observation.deliver(failed_call(self._observation, gradient, reason))
            except Exception:
                self._observation.note_failure()
            return result

        return setup

    def _wanted(self, graph: Any, fetches: Any) -> _Asked | None:
        """What there is to look at; None where no gradient is computed, or not this time."""
        notes = self._traces.peek(graph)
        if notes is None or not notes.gradients or self._observation.recorder.quiet:
            return None
        elements = [graph.as_graph_element(one) for one in nest.flatten(fetches, expand_composites=True)]
        key = (len(notes.gradients), tuple(element.name for element in elements))
        if key not in notes.asked:
            notes.asked[key] = _asked(graph, notes.gradients, elements)
        asked: _Asked = notes.asked[key]
        if not asked.gradients:
            return None
        for gradient_key in {gradient.key for gradient in asked.gradients}:
            self._observation.count(gradient_key)
        site = ("session", asked.gradients[0].key)
        return asked if self._observation.sites.begin(site)[1] else None

    def _prepare(
        self, original: Any, session: Any, asked: _Asked, feeds: Mapping[Any, Any]
    ) -> FunctionRun | None:
        graph = session.graph
        try:
            held = original(session, [read for _, read in asked.handles])
        except errors.OpError:
            return None  # a variable without a value: the program will hear of it
        symbols = [symbol for symbol, _ in asked.handles]
        with self._observation.recorder.silence(), context.eager_mode():
            tensors = [constant_op.constant(one) for one in held]
            args = [
                tensor if symbol.op.type in VARIABLES else make_variable(tensor)
                for symbol, tensor in zip(symbols, tensors)
            ]
            contents = {arg._id: tensor for arg, tensor in zip(args, tensors) if arg is not tensor}
            for key, value in feeds.items():
                symbol = graph.as_graph_element(key)
                if isinstance(symbol, tf_tensor.Tensor):
                    symbols.append(symbol)
                    args.append(constant_op.constant(np.asarray(value), symbol.dtype))
        places = user_places(sys._getframe(2))
        run = FunctionRun(next(numbers), "session", graph, tuple(args), contents, Feeds(), places, "graph")
        run.symbols = tuple(symbols)
        return run

    def _conclude(self, run: FunctionRun, asked: _Asked, results: Sequence[Any]) -> None:
        pairs = [(e, r) for e, r in zip(asked.fetched, results) if isinstance(e, tf_tensor.Tensor)]
        with context.eager_mode():
            with self._observation.recorder.silence():
                run.outputs = tuple(constant_op.constant(result) for _, result in pairs)
            with _like_a_function(run.graph, run.symbols, [symbol for symbol, _ in pairs]):
                self._emit(run, asked.gradients)


def _asked(graph: Any, gradients: Sequence[GraphGradient], elements: Sequence[Any]) -> _Asked:
    tensors = [one for one in elements if isinstance(one, tf_tensor.Tensor)]
    operations = [one for one in elements if not isinstance(one, tf_tensor.Tensor)]
    needed = ancestors(tensors, operations)
    made = [one for one in gradients if any(t.op.name in needed for t in components(one.results))]
    behind = ancestors([t for one in made for t in (*one.targets, *components(one.results))], ())
    handles = []
    for operation in graph.get_operations() if made else ():
        if operation.name in behind and operation.type in VARIABLES:
            handles.append((operation.outputs[0], operation.outputs[0]))
        elif operation.name in behind and operation.type == "VarHandleOp":
            reads = [one.outputs[0] for one in operation.outputs[0].consumers() if _only_reads(one)]
            handles += [(operation.outputs[0], read) for read in reads[:1]]
    return _Asked(made, handles, list(elements))


def _only_reads(operation: Any) -> bool:
    return operation.type == "ReadVariableOp" and not operation.control_inputs


@contextmanager
def _like_a_function(graph: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Iterator[None]:
    """For the time of the look the graph has what the graph of a function has."""
    graph.inputs, graph.outputs, graph.control_outputs = list(inputs), list(outputs), []
    try:
        yield
    finally:
        del graph.inputs, graph.outputs, graph.control_outputs

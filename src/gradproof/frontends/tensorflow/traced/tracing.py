"""What is learnt while TensorFlow traces a function: lines of ops, gradient calls, custom gradients.

A trace happens once, the function runs often: these notes are kept as long as the graph they are about.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType
from typing import Any

from tensorflow.python.distribute.values import DistributedVariable
from tensorflow.python.framework import indexed_slices
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops.ref_variable import RefVariable
from tensorflow.python.util import nest

from gradproof.frontends.record.model import Tape
from gradproof.frontends.tensorflow.eager.arguments import (
    PARAMETERS,
    bind,
    call_text,
    operand_names,
    weights_of,
)
from gradproof.frontends.tensorflow.eager.library_stops import hiding_function
from gradproof.frontends.tensorflow.eager.variables import Variables
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.autograph import spans_at, spans_of_traceback
from gradproof.frontends.tensorflow.traced.graph_tapes import GraphTapes, Stretch, Watched
from gradproof.frontends.tensorflow.values import entries_of
from gradproof.ir.span import Span


@dataclass(eq=False)
class GraphGradient:
    """A gradient call made while a graph was built: symbolic tensors and the ops it added.

    `handles` has, for each source that is a variable, the graph's own tensor for its handle: a variable that
    is an argument of the function is another one in another call.
    """

    api: str
    spans: tuple[Span, ...]
    through: str
    target_names: list[str]
    targets: list[Any]
    source_names: list[str]
    sources: list[Any]
    handles: list[Any]
    results: list[Any]
    output_gradients: list[Any] | None
    unconnected: str
    tape: Tape
    first: int
    last: int
    unseen: str | None = None  # why nothing but the place is known
    heard: tuple[Stretch, ...] | None = None  # where the tape was recording, None for everywhere
    watched: tuple[Watched, ...] = ()
    stopped: tuple[Any, ...] = ()  # tensors to be taken as given
    tangents: tuple[Any, ...] | None = None  # in forward mode: along what the sources move

    @cached_property
    def key(self) -> str:
        """The call site: every trace of the same line is the same site."""
        return f"{self.spans[0] if self.spans else ''} {self.through}"


@dataclass(eq=False)
class TracedScope:
    """One use of a custom gradient in a graph: `key` is the type TensorFlow gave to its gradient."""

    key: str
    name: str
    kind: str
    spans: tuple[Span, ...]
    definition: Span | None
    first: int
    last: int = -1
    n_results: int = 0
    n_variables: int = 0
    function: Any = None
    rule: Span | None = None
    library: str | None = None


@dataclass(eq=False)
class TracedRule:
    """A gradient rule that added the ops from `first` to `last` to a graph; `forward` is the op it is for."""

    op: str
    forward: Any
    key: str | None
    upstream: tuple[Any, ...]
    first: int
    last: int
    results: tuple[Any, ...]


@dataclass(eq=False)
class GraphNotes:
    """The notes on one graph."""

    spans: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    gradients: list[GraphGradient] = field(default_factory=list)
    scopes: list[TracedScope] = field(default_factory=list)
    rules: list[TracedRule] = field(default_factory=list)
    hidden: dict[str, str] = field(default_factory=dict)  # ops `stop_gradient` to who hides them
    asked: dict[Any, Any] = field(default_factory=dict)  # what the fetches of a session compute


_NOTES = "_gradproof_notes"
"""The notes hang on the graph itself: they hold its tensors, so that only there both can go together."""


class Traces:
    """The notes on every graph that is still alive, and the variables of the program."""

    def __init__(self, observation: TensorFlowObservation, variables: Variables) -> None:
        self._observation = observation
        self.variables = variables
        self.tapes = GraphTapes()
        self._last: Callable[[], Any] = lambda: None
        self.on_raised: Callable[[Tape, tuple[Span, ...], str], None] = lambda *_: None

    @property
    def graph_of_last(self) -> Any:
        """In which a gradient call was noted last; None where that graph is gone."""
        return self._last()

    @graph_of_last.setter
    def graph_of_last(self, graph: Any) -> None:
        self._last = (lambda: None) if graph is None else weakref.ref(graph)

    def of(self, graph: Any) -> GraphNotes:
        notes: GraphNotes | None = getattr(graph, _NOTES, None)
        if notes is None:
            notes = GraphNotes()
            setattr(graph, _NOTES, notes)
        return notes

    def peek(self, graph: Any) -> GraphNotes | None:
        return getattr(graph, _NOTES, None)

    def wanted(self, graph: Any) -> list[Any]:
        """The tensors of a graph that its gradient calls speak of."""
        notes = self.peek(graph)
        if notes is None:
            return []
        tensors = [
            t for call in notes.gradients for t in (*call.targets, *call.sources, *components(call.results))
        ]
        return [t for t in tensors if getattr(t, "graph", None) is graph]

    def on_graph_op(self, graph: Any, outputs: Any, frame: FrameType) -> None:
        """An op has been added to a graph; its own traceback knows no columns."""
        if outputs:
            operation, notes = outputs[0].op, self.of(graph)
            notes.spans[operation.name] = spans_at(frame)
            hidden_in = hiding_function(frame) if operation.type == "StopGradient" else None
            if hidden_in is not None:
                notes.hidden[operation.name] = hidden_in

    def spans(self, operation: Any) -> tuple[Span, ...]:
        notes = self.peek(operation.graph)
        known = None if notes is None else notes.spans.get(operation.name)
        return spans_of_traceback(operation) if known is None else known

    def position(self) -> int:
        """The place of the next op in the graph being built."""
        return n_ops(tf_ops.get_default_graph())

    def note_rule(self, first: int, op: str, inputs: Any, outputs: Any, upstream: Any, results: Any) -> None:
        """A tape inside a graph has differentiated one op."""
        try:
            graph = tf_ops.get_default_graph()
            forward = _forward_op(str(op), inputs or (), outputs or ())
            listed = tuple(results) if isinstance(results, list | tuple) else (results,)
            rule = TracedRule(str(op), forward, None, tuple(upstream or ()), first, n_ops(graph), listed)
            self.of(graph).rules.append(rule)
        except Exception:
            self._observation.note_failure()

    def gradient(
        self, api: str, original: Any, tape: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], frame: Any
    ) -> Any:
        """A tape's gradient inside a function that is being traced."""
        graph = tf_ops.get_default_graph()
        first = n_ops(graph)
        heard, watched = self.tapes.heard(tape, graph), self.tapes.watched(tape)
        recorder = self._observation.recorder
        recorder.within_api += 1
        facts = Tape(0, "tape", None, tape._persistent, tape._watch_accessed_variables)
        try:
            result = original(tape, *args, **kwargs)
        except Exception as error:
            self.on_raised(facts, spans_at(frame), f"{type(error).__name__}: {error}")
            raise
        finally:
            recorder.within_api -= 1
        try:
            noted = self.note_gradient(graph, first, api, args, kwargs, result, facts, frame)
            noted.heard, noted.watched = heard, watched
        except Exception:
            self._observation.note_failure()
        return result

    def note_gradient(
        self,
        graph: Any,
        first: int,
        api: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        result: Any,
        tape: Tape,
        frame: FrameType,
    ) -> GraphGradient:
        spans = spans_at(frame)
        given = bind(api, args, kwargs)
        target, source = ("primals", "sources") if api == "jvp" else PARAMETERS[api][:2]
        grad_ys = given.get("output_gradients", given.get("grad_ys"))
        unconnected = given.get("unconnected_gradients", "none")
        leaves = [_plain(leaf) for leaf in nest.flatten(given.get(source))]
        gradient = GraphGradient(
            api,
            spans,
            call_text(spans),
            operand_names(frame, api, target, given.get(target)),
            [entries_of(leaf) for leaf in nest.flatten(given.get(target))],
            [] if api == "jvp" else operand_names(frame, api, source, given.get(source)),
            leaves,
            [_handle_inside(graph, leaf) for leaf in leaves],
            [entries_of(leaf) for leaf in nest.flatten(result)],
            weights_of(grad_ys, nest.flatten(given.get(target))),
            str(getattr(unconnected, "value", unconnected)),
            tape,
            first,
            n_ops(graph),
        )
        self.of(graph).gradients.append(gradient)
        self.graph_of_last = graph
        return gradient


def n_ops(graph: Any) -> int:
    """How many ops a graph holds: the place of the next one."""
    return int(graph.version)


def components(gradients: Sequence[Any]) -> list[Any]:
    """The tensors that gradients consist of: a sparse one has two."""
    tensors: list[Any] = []
    for gradient in gradients:
        if isinstance(gradient, indexed_slices.IndexedSlices):
            tensors += [gradient.values, gradient.indices]
        elif gradient is not None:
            tensors.append(gradient)
    return tensors


def _forward_op(kind: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """The graph op that a tape recorded with these tensors; tensors its rule does not need are missing."""
    symbols = [tensor for tensor in outputs if getattr(tensor, "graph", None) is not None]
    if symbols:
        return symbols[0].op
    wanted = {tensor._id for tensor in inputs if hasattr(tensor, "_id")}
    for tensor in inputs:
        if getattr(tensor, "graph", None) is not None:
            for operation in tensor.consumers():
                if operation.type == kind and wanted <= {symbol._id for symbol in operation.inputs}:
                    return operation
    return None


def _plain(source: Any) -> Any:
    """Of a variable that is mirrored on several devices, that of the replica; of one of the older kind, its tensor."""
    if isinstance(source, DistributedVariable):
        return source._get()
    return source._ref() if isinstance(source, RefVariable) else entries_of(source)


def _handle_inside(graph: Any, source: Any) -> Any:
    """The tensor by which a graph knows a variable; only looked up, since asking the graph would add one."""
    if not hasattr(source, "handle"):
        return None
    captures = getattr(graph, "function_captures", None)
    return None if captures is None else captures.by_val_internal.get(id(source.handle))

"""Functions that were traced before anybody listened: traced once more, or else said to be out of sight.

What a function differentiates, and which of its ops belong to a custom gradient, is only seen while it is traced.
TensorFlow looks for a trace in the function's cache; while hooks are in, a trace that is older than they are and that
holds gradients, or a rule of the user's, is not found there, so that TensorFlow makes a new one. The older trace stays
where it is, for the calls after the hooks have gone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from tensorflow.core.function.polymorphism.function_cache import FunctionCache, FunctionContext

from gradproof.frontends.record.model import Tape
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.tensorflow.eager.hand_written import gradient_type, is_of_users
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.autograph import spans_of_traceback
from gradproof.frontends.tensorflow.traced.trace_reads import was_seen
from gradproof.frontends.tensorflow.traced.tracing import GraphGradient

_SCOPES = ("gradient_tape/", "gradients/")  # the names TensorFlow gives to what a tape or `tf.gradients` adds
_HALVES = ("__forward_", "__backward_")  # by which TensorFlow differentiates a function, at a call of its own
_HAS_GRADIENTS = "_gradproof_has_gradients"
_HAS_RULES = "_gradproof_has_rules"
_AGAIN = "traced under gradproof"
REASON = (
    "the function was traced before gradproof began to listen, and what it differentiates is only seen in its trace; "
    "call it by its `tf.function` rather than by a concrete function made earlier"
)


class _Pending(threading.local):
    """The caches for which a new trace is on its way, in this thread."""

    def __init__(self) -> None:
        self.caches: list[FunctionCache] = []


class StaleTraces:
    """The hooks on the cache of every function."""

    def __init__(self, observation: TensorFlowObservation) -> None:
        self._observation = observation
        self._pending = _Pending()

    def patches(self) -> list[Patch]:
        return [wrap(FunctionCache, "lookup", self._lookup), wrap(FunctionCache, "add", self._add)]

    def _lookup(self, original: Any, cache: Any, function_type: Any, context: Any = None) -> Any:
        found = original(cache, function_type, context)
        if found is None or self._observation.recorder.quiet or not self._is_stale(found):
            return found
        again = original(cache, function_type, _apart(context))
        if again is None:
            self._pending.caches.append(cache)
        return again

    def _is_stale(self, function: Any) -> bool:
        try:
            return not was_seen(function.graph) and (
                has_gradients(function.inference_fn) or _has_rules(function.inference_fn)
            )
        except Exception:
            self._observation.note_failure()
            return False

    def _add(self, original: Any, cache: Any, function: Any, context: Any = None) -> None:
        if any(one is cache for one in self._pending.caches):
            self._pending.caches[:] = [one for one in self._pending.caches if one is not cache]
            context = _apart(context)
        original(cache, function, context)


def _apart(context: FunctionContext | None) -> FunctionContext:
    """The context under which the new traces are kept, beside the older ones."""
    plain = context or FunctionContext()
    return FunctionContext((plain.context, _AGAIN), plain.scope_type)


def has_gradients(function: Any) -> bool:
    """Whether a function, or one that it calls, holds ops that TensorFlow made for a gradient."""
    return any(_first_gradient(graph) is not None for graph in _whole_graphs(function))


def _has_rules(function: Any) -> bool:
    """Whether a function, or one that it calls, holds a custom gradient that the user wrote."""
    return any(_has_own_rule(graph) for graph in _whole_graphs(function))


def unseen_gradients(function: Any) -> list[GraphGradient]:
    """The gradient calls that nobody saw being made: one per graph, by the line that made its first op."""
    if function._cached_graph is None or was_seen(function._cached_graph):
        return []
    made = [_first_gradient(graph) for graph in _whole_graphs(function) if not was_seen(graph)]
    return [_nameless(operation) for operation in made if operation is not None]


def _whole_graphs(function: Any) -> Iterator[Any]:
    # The name of a graph is bytes or a string, depending on who made it.
    named = (
        (one, one.name.decode() if isinstance(one.name, bytes) else one.name)
        for one in graphs(function, set())
    )
    return (one for one, name in named if not any(half in name for half in _HALVES))


def graphs(function: Any, visited: set[bytes]) -> Iterator[Any]:
    """The graph of a function and of those that it calls."""
    visited.add(function.name)
    # A function of the older kind (`Defun`) has neither a graph nor a list of those that it calls.
    graph = getattr(function, "_cached_graph", None)
    if graph is not None:
        yield graph
    for inner in getattr(function, "children", ()):
        if inner.name not in visited:
            yield from graphs(inner, visited)


def _first_gradient(graph: Any) -> Any:
    """The first op of a graph that belongs to a gradient, None if there is none; looked up once per graph."""
    if not hasattr(graph, _HAS_GRADIENTS):
        made = (one for one in graph.get_operations() if any(scope in one.name for scope in _SCOPES))
        setattr(graph, _HAS_GRADIENTS, next(made, None))
    return getattr(graph, _HAS_GRADIENTS)


def _has_own_rule(graph: Any) -> bool:
    """The same for one graph, looked up once."""
    if not hasattr(graph, _HAS_RULES):
        ends = (one for one in graph.get_operations() if one.type == "IdentityN")
        setattr(graph, _HAS_RULES, any(is_of_users(key) for one in ends if (key := gradient_type(one))))
    return bool(getattr(graph, _HAS_RULES))


def _nameless(operation: Any) -> GraphGradient:
    spans = spans_of_traceback(operation)
    tape = Tape(0, "tape", None)
    return GraphGradient(
        "gradient", spans, "", [], [], [], [], [], [], None, "none", tape, 0, 0, unseen=REASON
    )

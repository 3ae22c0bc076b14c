"""Custom gradients: where each begins and ends, and every application of its rule."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from tensorflow.python.eager import record
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops import custom_gradient, gradients_util
from tensorflow.python.util import nest

from gradproof.frontends.record.model import RECORDED
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import is_users, user_places
from gradproof.frontends.tensorflow.eager.hand_written import (
    closed_over,
    definition_of,
    gradient_type,
    library_of,
    line_of_rule,
)
from gradproof.frontends.tensorflow.eager.listening import run_pullback
from gradproof.frontends.tensorflow.eager.recorder import RawPullback, RawScope, numbers
from gradproof.frontends.tensorflow.eager.remembered import remembered
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.autograph import spans_at
from gradproof.frontends.tensorflow.traced.tracing import TracedRule, TracedScope, Traces, n_ops


class TracingThread(threading.local):
    """The custom gradients that a thread is tracing, the innermost last: replicas of a strategy wait for each other."""

    def __init__(self) -> None:
        self.scopes: list[TracedScope] = []


class Customs:
    """The hooks on `tf.custom_gradient` and on the gradient rules of graphs."""

    def __init__(self, observation: TensorFlowObservation, traces: Traces) -> None:
        self._observation = observation
        self._recorder = observation.recorder
        self._traces = traces
        self._traced = TracingThread()

    def patches(self) -> list[Patch]:
        return [
            wrap(custom_gradient, "_eager_mode_decorator", self._eager),
            wrap(custom_gradient, "_graph_mode_decorator", self._graph),
            wrap(record, "record_operation", self._record),
            wrap(tf_ops.RegisterGradient, "__call__", self._register),
            wrap(gradients_util, "_MaybeCompile", self._rule),
        ]

    def _eager(self, original: Any, function: Any, args: Any, kwargs: Any) -> Any:
        recorder = self._recorder
        if recorder.quiet or not recorder.collections:
            return original(function, args, kwargs)
        kind, name, described = _described(function)
        scope = RawScope(
            next(numbers),
            name,
            kind,
            recorder.scopes[-1].id if recorder.scopes else None,
            user_places(sys._getframe(2)),
            described,
        )
        for collection in recorder.collections:
            collection.scopes.append(scope)
        recorder.scopes.append(scope)
        try:
            return original(function, args, kwargs)
        finally:
            recorder.scopes.remove(scope)

    def _record(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """`record_operation`: the moment a custom gradient tells the tapes its inputs, outputs and rule."""
        frame = sys._getframe(2)
        caller = frame.f_code
        if is_users(caller.co_filename):
            args = self._by_hand(frame, *args)
        elif caller.co_filename.endswith("custom_gradient.py") and len(args) == 4:
            op_type, outputs, inputs, rule = args
            if caller.co_name == "_graph_mode_decorator" and self._traced.scopes:
                rule = self._traced_rule(self._traced.scopes[-1], rule)
            elif self._recorder.scopes and not self._recorder.scopes[-1].complete:
                scope = self._recorder.scopes[-1]
                scope.inputs, scope.outputs = tuple(map(remembered, inputs)), tuple(map(remembered, outputs))
                scope.complete = True
                scope.variables = tuple(one.handle._id for one in closed_over(rule, "variables") or ())
                scope.written = closed_over(rule, "grad_fn")
                rule = scope.rule = self._observed_rule(scope, rule)
            args = (op_type, outputs, inputs, rule)
        return original(*args, **kwargs)

    def _by_hand(self, frame: FrameType, op: str, *given: Any) -> tuple[Any, ...]:
        """What a program told the tapes itself: how its outputs came about was not seen, only their rule."""
        if self._recorder.quiet or not self._recorder.collections or len(given) != 3:
            return (op, *given)
        outputs, inputs, rule = given
        took, gave = tuple(map(remembered, inputs)), tuple(map(remembered, outputs))
        parent = self._recorder.scopes[-1].id if self._recorder.scopes else None
        scope = RawScope(
            next(numbers), op, RECORDED, parent, user_places(frame), rule, took, gave,
            complete=True, rule=rule, written=rule,
        )  # fmt: skip
        for collection in self._recorder.collections:
            collection.scopes.append(scope)
        return op, outputs, inputs, self._observed_rule(scope, rule)

    def _traced_rule(self, scope: TracedScope, rule: Callable[..., Any]) -> Callable[..., Any]:
        """The rule of a custom gradient as a tape inside a graph calls it."""

        def observed(*upstream: Any) -> Any:
            graph = tf_ops.get_default_graph()
            first = n_ops(graph)
            results = rule(*upstream)
            kept = tuple(results[scope.n_results :])
            self._note_rule(
                graph, TracedRule(scope.name, None, scope.key, upstream, first, n_ops(graph), kept)
            )
            return results

        return observed

    def _note_rule(self, graph: Any, rule: TracedRule) -> None:
        self._traces.of(graph).rules.append(rule)

    def _observed_rule(self, scope: RawScope, rule: Callable[..., Any]) -> Callable[..., Any]:
        def observed(*upstream: Any) -> Any:
            recorder = self._recorder
            if recorder.quiet or not recorder.collections:
                return rule(*upstream)
            pullback = RawPullback(
                next(numbers),
                scope.name,
                scope.inputs,
                scope.outputs,
                tuple(map(remembered, upstream)),
                scope=scope.id,
            )
            return run_pullback(recorder, pullback, lambda: rule(*upstream))

        return observed

    def _graph(self, original: Any, function: Any, args: Any, kwargs: Any) -> Any:
        graph = tf_ops.get_default_graph()
        kind, name, described = _described(function)
        spans = spans_at(sys._getframe(2))
        scope = TracedScope("", name, kind, spans, definition_of(described), n_ops(graph), function=described)
        self._traced.scopes.append(scope)
        try:
            result = original(function, args, kwargs)
        finally:
            self._traced.scopes.remove(scope)
        try:
            self._close(graph, scope, result)
        except Exception:
            self._observation.note_failure()
        return result

    def _close(self, graph: Any, scope: TracedScope, result: Any) -> None:
        scope.last = n_ops(graph)
        scope.n_results = len(nest.flatten(result, expand_composites=True))
        self._traces.of(graph).scopes.append(scope)

    def _register(self, original: Any, decorator: Any, function: Any) -> Any:
        """The rule of a custom gradient in a graph is registered under a name of its own."""
        key = decorator._op_type
        if key.startswith("CustomGradient-") and self._traced.scopes:
            scope = self._traced.scopes[-1]
            scope.key = key
            rule = closed_over(function, "tape_grad_fn")
            scope.n_variables = len(closed_over(rule, "variables") or ()) if rule else 0
            written = closed_over(rule, "grad_fn")
            scope.rule = line_of_rule(written)
            scope.library = library_of(scope.function, written) if scope.kind == "custom_gradient" else None
        return original(decorator, function)

    def _rule(self, original: Any, scope: Any, operation: Any, function: Any, rule: Any) -> Any:
        """One op of a graph is being differentiated by `tf.gradients` or for a function's backward pass."""
        graph = tf_ops.get_default_graph()
        first = n_ops(graph)
        results = original(scope, operation, function, rule)
        try:
            self._traces.of(graph).rules.append(
                TracedRule(
                    operation.type,
                    operation,
                    gradient_type(operation),
                    tuple(closed_over(rule, "out_grads") or ()),
                    first,
                    n_ops(graph),
                    tuple(results) if isinstance(results, list | tuple) else (results,),
                )
            )
        except Exception:
            self._observation.note_failure()
        return results


def _described(function: Any) -> tuple[str, str, Any]:
    """Kind, name and function of a custom gradient; `tf.recompute_grad` wraps the user's function."""
    kind = "custom_gradient"
    if getattr(function, "__module__", None) == custom_gradient.__name__:
        kind = getattr(function, "__qualname__", "").partition(".")[0]
        function = closed_over(function, "f")
    return kind, getattr(function, "__name__", type(function).__name__), function

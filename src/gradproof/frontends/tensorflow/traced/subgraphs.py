"""The graphs that a graph calls by their names, and the order in which its ops run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.framework.function_def_to_graph import function_def_to_graph

from gradproof.frontends.record.order import after_needs

CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
BRANCHES = {"If", "StatelessIf", "Case", "StatelessCase"}
LOOPS = {"While", "StatelessWhile"}
_BODY = "_gradproof_body"


def body_of(graph: Any, name: str) -> Any:
    """The own graph of a function; one of the older kind (`Defun`, as in `ctc_loss`) is built from its definition."""
    function = graph._get_function(name)
    if hasattr(function, "graph"):
        return function.graph
    if not hasattr(function, _BODY):
        with graph.as_default():
            setattr(function, _BODY, function_def_to_graph(function.cached_definition))
    return getattr(function, _BODY)


def bodies_of(graph: Any, operation: Any) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The graphs that an op of a graph runs, each with the tensors that become its arguments."""
    attrs, symbols = operation.node_def.attr, operation.inputs
    if operation.type in CALLS:
        yield body_of(graph, attrs["f"].func.name), symbols
    elif operation.type in BRANCHES:
        names = [attrs[name].func.name for name in ("then_branch", "else_branch") if name in attrs]
        names += [function.name for function in attrs["branches"].list.func]
        for name in names:
            yield body_of(graph, name), symbols[1:]
    elif operation.type in LOOPS:
        for name in ("cond", "body"):
            yield body_of(graph, attrs[name].func.name), symbols


def ancestors(tensors: Sequence[Any], operations: Sequence[Any]) -> set[str]:
    """The ops of one graph that must run for these; what no output needs TensorFlow does not run either."""
    needed: set[str] = set()
    waiting = [tensor.op for tensor in tensors if not isinstance(tensor, tf_ops.EagerTensor)]
    waiting += operations
    while waiting:
        operation = waiting.pop()
        if operation.name not in needed:
            needed.add(operation.name)
            waiting += _needs(operation)
    return needed


def execution_order(graph: Any, needed: set[str]) -> Iterator[tuple[int, Any]]:
    """The needed ops, each after what it needs, otherwise as they were made.

    The gradient of a loop adds inputs to a loop that is there already. An op that was made later than one
    which needs it gets the position of that one: it is a part of what came first.
    """
    places = {one.name: place for place, one in enumerate(graph.get_operations()) if one.name in needed}
    wanted = (one for one in graph.get_operations() if one.name in needed)
    for first, operation in after_needs(wanted, _needs, lambda one: one.name):
        yield places[first.name], operation


def _needs(operation: Any) -> list[Any]:
    return [*(symbol.op for symbol in operation.inputs), *operation.control_inputs]

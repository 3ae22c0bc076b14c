"""Running a function of the user once more in its own mode, to have the gradients it kept to itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import context, execute

from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.traced.repeatable import obstacle
from gradproof.frontends.tensorflow.traced.subgraphs import ancestors, bodies_of


class NotRepeatable(Exception):
    """Running the function again would have effects, or would not do the same."""


@dataclass(frozen=True)
class Clone:
    """A function made from some ops of a graph; it lives in TensorFlow until it is closed."""

    name: str
    n_outputs: int

    def run(self, args: Sequence[Any]) -> list[Any]:
        ctx = context.context()
        attrs = [part for item in ctx.function_call_options.as_attrs().items() for part in item]
        return list(execute.quick_execute(self.name, self.n_outputs, list(args), tuple(attrs), ctx))

    def close(self) -> None:
        context.context().remove_function(self.name.encode())


def clone(graph: Any, outputs: Sequence[Any], controls: Sequence[Any], xla: bool) -> Clone:
    """A function with the inputs of a graph that runs what these outputs and ops need, in the same mode."""
    needed = ancestors(outputs, controls)
    inputs = {symbol.op.name for symbol in graph.inputs}
    body = [one for one in graph.get_operations() if one.name in needed and one.name not in inputs]
    name = f"__gradproof_clone_{next(numbers)}"
    with graph._c_graph.get() as c_graph:
        function = pywrap_tf_session.TF_GraphToFunction_wrapper(
            c_graph,
            name,
            False,
            [operation._c_op for operation in body],
            [symbol._as_tf_output() for symbol in graph.inputs],
            [symbol._as_tf_output() for symbol in outputs],
            [],
            [operation._c_op for operation in controls],
            [],
            None,
            "",
        )
    if xla:
        flag = attr_value_pb2.AttrValue(b=True).SerializeToString()
        pywrap_tf_session.TF_FunctionSetAttrValueProto(function, "_XlaMustCompile", flag)
    context.context().add_c_function(function)
    pywrap_tf_session.TF_DeleteFunction(function)
    return Clone(name, len(outputs))


def rerun(graph: Any, tensors: Sequence[Any], args: Sequence[Any], xla: bool) -> list[Any]:
    """The values of some tensors of a graph, from a run in the user's mode of just the ops they need."""
    needed = ancestors(tensors, ())
    _refuse(graph, [operation for operation in graph.get_operations() if operation.name in needed])
    copy = clone(graph, tensors, (), xla)
    try:
        return copy.run(args)
    finally:
        copy.close()


def _refuse(graph: Any, operations: Sequence[Any]) -> None:
    for operation in operations:
        kind = operation.type
        bodies = [body for body, _ in bodies_of(graph, operation)]
        for body in bodies:
            _refuse(body, body.get_operations())
        reason = None if bodies or kind == "Placeholder" else obstacle(operation)
        if reason is not None or kind.startswith("Print") or kind.endswith("Dataset"):
            raise NotRepeatable(reason or f"{kind} would not do the same again")

"""The targets and sources of a gradient call inside a function, as they were when it ran."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.record.model import NO_TENSOR, NOT_COMPUTED, Operand, Value
from gradproof.frontends.tensorflow.traced.functions import Expansion, FunctionRun
from gradproof.frontends.tensorflow.traced.interpret import Frame
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.values import optional_value_of, value_of, variable_of, variable_value


def value_in(tensor: Any, expansion: Expansion) -> Value:
    if tensor is None:
        return Value(NO_TENSOR, "none", None, unknown=NOT_COMPUTED)
    return value_of(tensor, expansion.originals)


def read(tensor: Any, frame: Frame, expansion: Expansion) -> Value | None:
    """A tensor of the graph, or one that was there before it."""
    symbolic = hasattr(tensor, "graph") and not isinstance(tensor, tf_ops.EagerTensor)
    return value_in(frame.get(tensor), expansion) if symbolic else optional_value_of(tensor)


def source_in(
    name: str,
    source: Any,
    inside: Any,
    frame: Frame,
    run: FunctionRun,
    expansion: Expansion,
    traces: Traces,
) -> Operand:
    if not hasattr(source, "handle"):
        return Operand(name, value_in(frame.get(source), expansion))
    handle = _handle_in(frame, source.handle) if inside is None else frame.get(inside)
    identity = source.handle._id if handle is None else expansion.originals.get(handle._id, handle._id)
    found = traces.variables.by_handle(identity)
    actual = source if found is None else found
    variable = replace(variable_of(actual), id=identity)
    if actual is not source or name.isidentifier():
        name = _outer_name(name, identity, run) or name
    held = run.held.get(identity)
    # What the function was not given it cannot have changed.
    value = variable_value(actual) if held is None else value_of(held)
    return Operand(name, replace(value, id=identity), variable)


def _outer_name(name: str, variable: int, run: FunctionRun) -> str | None:
    """What the caller of the function calls a variable: a parameter of a traced function stands for many."""
    if run.names.get(name) == variable:
        return name
    return next((outer for outer, handle in run.names.items() if handle == variable), None)


def _handle_in(frame: Frame, handle: Any) -> Any:
    """The handle that really was there for a variable of the trace: an argument may have been another one."""
    at: Frame | None = frame
    while at is not None:
        if not isinstance(handle, tf_ops.EagerTensor):
            return at.get(handle)
        for outer, inner in at.graph.captures:
            if outer is handle:
                return at.get(inner)
        at = at.parent
    return None

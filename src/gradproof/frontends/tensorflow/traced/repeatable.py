"""Which ops may be run a second time, and why others may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorflow.python.framework import dtypes

from gradproof.frontends.record.source import is_users
from gradproof.frontends.tensorflow.traced.feeds import DRAWS
from gradproof.frontends.tensorflow.values import UnknownTensor
from gradproof.ir.span import Span

_SEEDED = ("StatelessRandom", "StatelessTruncated", "StatelessMultinomial", "StatelessParameterized",
           "StatelessShuffle", "RngBitGenerator")  # fmt: skip
_USERS_WORDS = {
    "PyFunc": "tf.numpy_function",
    "PyFuncStateless": "tf.numpy_function",
    "EagerPyFunc": "tf.py_function",
}
PYTHON_OPS = frozenset(_USERS_WORDS)
_OF_VARIABLES = ("ReadVariable", "Assign", "ResourceApply", "ResourceGather", "ResourceScatter", "ResourceSparse",
                 "ResourceStrided", "ResourceCountUpTo", "VarIsInitialized", "VariableShape", "Rng", "Stateful",
                 "NonDeterministicInts")  # fmt: skip
_OLD_CONTROL_FLOW = {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"}
_LOOKING_UP = ("LookupTableFind", "LookupTableSize", "LookupTableExport")


def unknown_input(operation: Any, inputs: Sequence[Any]) -> str | None:
    """Why an input of an op is not known; None if all are."""
    for tensor in inputs:
        if tensor is None:
            return f"an input of {operation.type} was not computed"
        if isinstance(tensor, UnknownTensor):
            return tensor.reason
    return None


def obstacle(operation: Any) -> str | None:
    """Why an op must not, or cannot, be run a second time; None if it may."""
    if operation.type in ("Placeholder", "PlaceholderV2"):
        return "a placeholder was not fed"
    if operation.type in PYTHON_OPS:
        return (
            f"`{_USERS_WORDS[operation.type]}`{_place(operation)} ran Python code inside the function, which is not "
            "called a second time"
        )
    if is_random(operation):
        return (
            f"{operation.type} drew its numbers inside the function, where they cannot be seen without a seed"
        )
    if operation.type.removeprefix("Ref") in _OLD_CONTROL_FLOW:
        return f"{operation.type} belongs to a branch or loop of TensorFlow 1, which is not followed"
    if operation.type in DRAWS:
        return f"{operation.type} drew data inside the function, where they cannot be seen"
    if is_stateful(operation) and not _acts_on_variables(operation):
        return f"{operation.type} has state of its own and is not run a second time"
    return None


def _place(operation: Any) -> str:
    """The user's line that made an op of a graph."""
    frames = ((frame.filename, frame.lineno) for frame in reversed(operation.traceback or ()))
    return next((f" ({Span(file, line)})" for file, line in frames if is_users(file)), "")


def _acts_on_variables(operation: Any) -> bool:
    """Whether all that an op can change are variables, for which there are stand-ins; or nothing at all."""
    takes = any(symbol.dtype == dtypes.resource for symbol in operation.inputs)
    return takes and str(operation.type).startswith((*_OF_VARIABLES, *_LOOKING_UP))


def is_stateful(operation: Any) -> bool:
    """Whether an op says that it may do something else the next time; one that fills new memory does not."""
    filled = operation.type == "Empty" and operation.get_attr("init")
    return bool(operation.op_def.is_stateful) and not filled


def is_random(operation: Any) -> bool:
    """A random op that keeps its state in itself (the others take it from a variable or as an input)."""
    names = {attr.name for attr in operation.op_def.attr}
    return is_stateful(operation) and {"seed", "seed2"} <= names


def has_seed(operation: Any) -> bool:
    return bool(operation.get_attr("seed") or operation.get_attr("seed2"))


def draws_from_seed(operation: Any) -> bool:
    """A random op that keeps no state: its numbers follow from a seed, by a method that depends on the mode."""
    return str(operation.type).startswith(_SEEDED)

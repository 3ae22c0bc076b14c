"""The arguments of a gradient call, and the user's names for what is in them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
from tensorflow.python.framework import tensor as tf_tensor
from tensorflow.python.util import nest

from gradproof.frontends.record.source import argument, call_at, is_users, names_of
from gradproof.frontends.tensorflow.traced.autograph import span_of_frame
from gradproof.ir.span import Span

PARAMETERS = {
    "gradient": ("target", "sources", "output_gradients", "unconnected_gradients"),
    "jacobian": ("target", "sources", "unconnected_gradients"),
    "batch_jacobian": ("target", "source", "unconnected_gradients"),
    "gradients": (
        "ys",
        "xs",
        "grad_ys",
        "name",
        "gate_gradients",
        "aggregation_method",
        "stop_gradients",
        "unconnected_gradients",
    ),
    "jvp": ("primals", "unconnected_gradients"),
    "ForwardAccumulator": ("primals", "tangents"),
}
"""The parameters of each way to ask for a gradient: what is differentiated first, then by what."""
_VARIABLES = ("VariableV2", "Variable")  # ops of the older kind, whose result is the variable


def bind(api: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a gradient call by name; what was left out is not there."""
    return {**dict(zip(PARAMETERS[api], args)), **kwargs}


def operand_names(frame: FrameType, api: str, parameter: str, structure: Any) -> list[str]:
    """A name for each leaf of an argument, in TensorFlow's order.

    Where a library made the call (Keras' `fit`), its local names mean nothing to the user: a variable goes by
    its path there.
    """
    leaves = nest.flatten(structure)
    span = span_of_frame(frame)
    node = argument(call_at(span), PARAMETERS[api].index(parameter), parameter) if span is not None else None
    names = names_of(node, structure, parameter)
    if len(names) != len(leaves):
        names = [f"{parameter}[{i}]" for i in range(len(leaves))]
    if span is not None and is_users(span.file):
        return names
    return [_own_name(leaf) or name for leaf, name in zip(leaves, names)]


def _own_name(leaf: Any) -> str | None:
    if isinstance(leaf, tf_tensor.Tensor) and not hasattr(leaf, "numpy") and leaf.op.type in _VARIABLES:
        return str(leaf.op.name)
    if not hasattr(leaf, "handle"):
        return None
    return getattr(leaf, "path", None) or str(leaf.name).removesuffix(":0")


def call_text(spans: tuple[Span, ...]) -> str:
    """What the user called, as it is spelled: `tape.gradient`, `model.fit`."""
    call = call_at(spans[0]) if spans else None
    return "" if call is None else ast.unparse(call.func)


def weights_of(given: Any, targets: Sequence[Any]) -> list[Any] | None:
    """The output gradients, one for each target: a list of numbers may be one of them, and becomes an array."""
    if given is None:
        return None
    if len(targets) == 1 and not (isinstance(given, list | tuple) and len(given) == 1):
        parts = [given]
    else:
        parts = list(given) if isinstance(given, list | tuple) else nest.flatten(given)
    if len(parts) != len(targets):
        parts = nest.flatten(given)
    return [_as_array(part, target) for part, target in zip(parts, targets)]


def _as_array(part: Any, target: Any) -> Any:
    is_plain = isinstance(part, list | tuple | int | float | complex)
    return np.asarray(part, target.dtype.as_numpy_dtype) if is_plain and hasattr(target, "dtype") else part

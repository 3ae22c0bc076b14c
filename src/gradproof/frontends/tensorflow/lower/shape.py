"""Ops that move, repeat, join or drop entries."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import ints, lower
from gradproof.frontends.tensorflow.lower.tensor_list import zeros_like


@lower("Reshape", "ExpandDims", "Squeeze")
def _reshape(m: Any, event: Any, x: Any, *_: Any) -> Any:
    return m.reshape(x, shape=event.outputs[0].shape)


@lower("BroadcastTo")
def _broadcast(m: Any, event: Any, x: Any, _: Any) -> Any:
    return m.broadcast(x, shape=event.outputs[0].shape)


@lower("Fill")
def _fill(m: Any, event: Any, shape: Any, x: Any) -> Any:
    return m.broadcast(x, shape=event.outputs[0].shape)


@lower("Transpose")
def _transpose(m: Any, event: Any, x: Any, order: Any) -> Any:
    return m.transpose(x, order=tuple(axis % x.ndim for axis in ints(order)))


@lower("ConjugateTranspose")
def _conjugate_transpose(m: Any, event: Any, x: Any, order: Any) -> Any:
    return m.conj(m.transpose(x, order=tuple(axis % x.ndim for axis in ints(order))))


@lower("Tile")
def _tile(m: Any, event: Any, x: Any, multiples: Any) -> Any:
    return m.tile(x, repeats=ints(multiples))


@lower("ConcatV2")
def _concat(m: Any, event: Any, *xs: Any) -> Any:
    *parts, axis = xs
    return m.concat(*parts, axis=ints(axis)[0] % parts[0].ndim)


@lower("Concat")
def _concat_axis_first(m: Any, event: Any, axis: Any, *parts: Any) -> Any:
    return m.concat(*parts, axis=ints(axis)[0] % parts[0].ndim)


@lower("Pack")
def _pack(m: Any, event: Any, *xs: Any) -> Any:
    if isinstance(xs[0], TensorList):
        return TensorList(xs)
    return m.stack(*xs, axis=int(event.attrs["axis"]) % (xs[0].ndim + 1))


@lower("ZerosLike")
def _zeros_like(m: Any, event: Any, x: Any) -> Any:
    return zeros_like(m, x) if isinstance(x, TensorList) else m.constant(event.outputs[0].array)


@lower("OnesLike")
def _ones_like(m: Any, event: Any, x: Any) -> Any:
    return m.constant(event.outputs[0].array)


@lower(
    "Shape",
    "ShapeN",
    "VariableShape",
    "Size",
    "Rank",
    "BroadcastGradientArgs",
    "BroadcastArgs",
    "InvertPermutation",
    "Range",
)
def _fact(m: Any, event: Any, *_: Any) -> Any:
    """Shapes and what is made of them: facts of the run."""
    return tuple(m.constant(output.array) for output in event.outputs)

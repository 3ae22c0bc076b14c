"""Matrix products, Einstein sums and biases."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import is_channels_first, lower


@lower("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseMatMul")
def _matmul(m: Any, event: Any, a: Any, b: Any) -> Any:
    attrs = event.attrs
    a = _turned(m, a, attrs.get("transpose_a", False), attrs.get("adj_x", False))
    b = _turned(m, b, attrs.get("transpose_b", False), attrs.get("adj_y", False))
    return m.product(a, b, event.outputs[0].array)


def _turned(m: Any, x: Any, transpose: Any, adjoint: Any) -> Any:
    if not (transpose or adjoint):
        return x
    turned = m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    return m.conj(turned) if adjoint else turned


@lower("BiasAdd", "BiasAddV1")
def _bias_add(m: Any, event: Any, x: Any, bias: Any) -> Any:
    if is_channels_first(event) and x.ndim > 2:
        bias = m.reshape(bias, shape=(*bias.shape, *(1,) * (x.ndim - 2)))
    return x + bias


@lower("BiasAddGrad")
def _bias_add_grad(m: Any, event: Any, gy: Any) -> Any:
    channel = 1 if is_channels_first(event) and gy.ndim > 2 else gy.ndim - 1
    return m.sum(gy, axes=tuple(axis for axis in range(gy.ndim) if axis != channel))


@lower("Einsum")
def _einsum(m: Any, event: Any, *xs: Any) -> Any:
    """A letter twice in the result, which TensorFlow's backward ops use, puts the entries on a diagonal."""
    equation = str(event.attrs["equation"]).replace(" ", "")
    left, _, right = equation.partition("->")
    once = "".join(dict.fromkeys(right.replace("...", "")))
    if len(once) == len(right.replace("...", "")):
        return m.einsum(*xs, equation=equation)
    if "..." in equation:
        raise NotImplementedError("diagonals behind an ellipsis")
    y = m.einsum(*xs, equation=f"{left}->{once}")
    shape = event.outputs[0].shape
    first = [right.index(letter) == axis for axis, letter in enumerate(right)]
    spread = tuple(n if is_first else 1 for n, is_first in zip(shape, first))
    places = np.indices(shape, sparse=True)
    agrees = np.ones(shape, bool)
    for axis, letter in enumerate(right):
        agrees &= places[axis] == places[right.index(letter)]
    return m.select(agrees, m.broadcast(m.reshape(y, shape=spread), shape=shape), m.zeros(()))

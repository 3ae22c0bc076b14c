"""Matrix products."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.tensorflow.lower._table import lower


@lower("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _matmul(m: Any, event: Any, a: Any, b: Any) -> Any:
    attrs = event.attrs
    a = _turned(m, a, attrs.get("transpose_a", False), attrs.get("adj_x", False))
    b = _turned(m, b, attrs.get("transpose_b", False), attrs.get("adj_y", False))
    return m.matmul(a, b)


def _turned(m: Any, x: Any, transpose: Any, adjoint: Any) -> Any:
    if not (transpose or adjoint):
        return x
    turned = m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    return m.conj(turned) if adjoint else turned


@lower("BiasAdd", "BiasAddV1")
def _bias_add(m: Any, event: Any, x: Any, bias: Any) -> Any:
    if event.attrs.get("data_format", "NHWC") in ("NCHW", b"NCHW") and x.ndim > 2:
        bias = m.reshape(bias, shape=(*bias.shape, *(1,) * (x.ndim - 2)))
    return x + bias


@lower("BiasAddGrad")
def _bias_add_grad(m: Any, event: Any, gy: Any) -> Any:
    channel = 1 if event.attrs.get("data_format", "NHWC") in ("NCHW", b"NCHW") and gy.ndim > 2 else gy.ndim - 1
    return m.sum(gy, axes=tuple(axis for axis in range(gy.ndim) if axis != channel))

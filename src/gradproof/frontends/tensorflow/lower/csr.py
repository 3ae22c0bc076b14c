"""Sparse matrices in compressed rows: the variant that holds one holds the dense matrix here, or a batch of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import ints, lower
from gradproof.ir.types import Array


def _places(indices: Any, shape: tuple[int, ...]) -> Array:
    return np.asarray(np.ravel_multi_index(tuple(np.asarray(indices).T), shape), np.int64)


def _made(m: Any, indices: Any, values: Any, shape: tuple[int, ...]) -> TensorList:
    size = math.prod(shape)
    return TensorList((m.reshape(m.scatter_add(values, _places(indices, shape), size=size), shape=shape),))


def _entries(m: Any, dense: Any, indices: Any) -> Any:
    flat = m.reshape(dense, shape=(math.prod(dense.shape),))
    return m.take(flat, _places(indices, dense.shape), axis=0)


@lower("SparseTensorToCSRSparseMatrix")
def _from_sparse(m: Any, event: Any, indices: Any, values: Any, shape: Any) -> Any:
    return _made(m, indices.value, values, ints(shape))


@lower("DenseToCSRSparseMatrix")
def _from_dense(m: Any, event: Any, dense: Any, indices: Any) -> Any:
    return _made(m, indices.value, _entries(m, dense, indices.value), dense.shape)


@lower("CSRSparseMatrixToDense")
def _to_dense(m: Any, event: Any, a: Any) -> Any:
    return m.identity(a.items[0])


@lower("CSRSparseMatrixToSparseTensor")
def _to_sparse(m: Any, event: Any, a: Any) -> Any:
    indices, _, shape = (output.array for output in event.outputs)
    return m.constant(indices), _entries(m, a.items[0], indices), m.constant(shape)


@lower("SparseMatrixNNZ")
def _count(m: Any, event: Any, a: Any) -> Any:
    return m.constant(event.outputs[0].array)


def _turned(m: Any, x: Any, transposes: Any, conjugates: Any) -> Any:
    if transposes or conjugates:
        x = m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    return m.conj(x) if conjugates else x


def _product(m: Any, event: Any, a: Any, b: Any) -> Any:
    attrs = event.attrs
    return m.matmul(
        _turned(m, a, attrs["transpose_a"], attrs["adjoint_a"]),
        _turned(m, b, attrs["transpose_b"], attrs["adjoint_b"]),
    )


@lower("SparseMatrixMatMul")
def _matmul(m: Any, event: Any, a: Any, b: Any) -> Any:
    y = _turned(m, _product(m, event, a.items[0], b), event.attrs["transpose_output"], False)
    return m.conj(y) if event.attrs["conjugate_output"] else y


@lower("SparseMatrixSparseMatMul")
def _sparse_matmul(m: Any, event: Any, a: Any, b: Any) -> Any:
    return TensorList((_product(m, event, a.items[0], b.items[0]),))


@lower("SparseMatrixTranspose")
def _transpose(m: Any, event: Any, a: Any) -> Any:
    return TensorList((_turned(m, a.items[0], True, event.attrs["conjugate"]),))


@lower("SparseMatrixMul")
def _mul(m: Any, event: Any, a: Any, b: Any) -> Any:
    return TensorList((m.mul(a.items[0], b),))

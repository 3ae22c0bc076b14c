"""Sparse tensors: triples of places, values and a shape; only the values are numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import axes_of, ints, lower
from gradproof.ir.types import Array
from gradproof.ops.linalg import adjoint


def _places(indices: Any) -> Array:
    return np.asarray(indices.value, np.int64)


def _flat(places: Array, shape: tuple[int, ...]) -> Array:
    """Places as numbers in the flattened tensor."""
    return np.asarray(np.ravel_multi_index(tuple(places.T), shape)) if places.size else np.zeros(0, np.int64)


def _dense(m: Any, indices: Any, values: Any, shape: tuple[int, ...]) -> Any:
    return m.scatter_nd(values, _places(indices), shape=shape)


@lower("SparseTensorDenseMatMul")
def _matmul(m: Any, event: Any, indices: Any, values: Any, shape: Any, b: Any) -> Any:
    a = _dense(m, indices, values, ints(shape))
    a = adjoint(m, a) if event.attrs.get("adjoint_a") else a
    return m.matmul(a, adjoint(m, b) if event.attrs.get("adjoint_b") else b)


@lower("SparseToDense")
def _to_dense(m: Any, event: Any, indices: Any, shape: Any, values: Any, default: Any) -> Any:
    places = _places(indices)
    places = places.reshape(-1, 1) if places.ndim < 2 else places
    frame = m.broadcast(default, shape=ints(shape))
    return m.scatter_update(frame, places, m.broadcast(values, shape=(len(places),)))


@lower("SparseTensorDenseAdd")
def _dense_add(m: Any, event: Any, indices: Any, values: Any, shape: Any, b: Any) -> Any:
    return b + _dense(m, indices, values, ints(shape))


@lower("SparseReorder")
def _reorder(m: Any, event: Any, indices: Any, values: Any, shape: Any) -> Any:
    order = np.argsort(_flat(_places(indices), ints(shape)), kind="stable")
    return m.constant(event.outputs[0].array), m.take(values, order, axis=0)


def _matched(m: Any, values: Any, places: Array, wanted: Array, shape: tuple[int, ...]) -> Any:
    """The values at the places wanted; zero where there is none."""
    size = math.prod(shape)
    origin = np.full(size + 1, len(places))
    origin[_flat(places, shape)] = np.arange(len(places))
    padded = m.pad(values, widths=((0, 1),))
    return m.take(padded, origin[_flat(wanted, shape)], axis=0)


@lower("SparseSlice")
def _slice(m: Any, event: Any, indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Any:
    found, _, new_shape = (output.array for output in event.outputs)
    wanted = np.asarray(found, np.int64) + np.asarray(start.value, np.int64)
    inner = _matched(m, values, _places(indices), wanted, ints(shape))
    return m.constant(found), inner, m.constant(new_shape)


@lower("SparseSliceGrad")
def _slice_grad(m: Any, event: Any, gy: Any, indices: Any, start: Any, new_indices: Any) -> Any:
    wanted = _places(new_indices) + np.asarray(start.value, np.int64)
    both = np.concatenate([_places(indices), wanted])
    shape = tuple(int(n) + 1 for n in both.max(axis=0))
    return _matched(m, gy, wanted, _places(indices), shape)


@lower("SparseAdd")
def _add(
    m: Any,
    event: Any,
    a_indices: Any,
    a: Any,
    a_shape: Any,
    b_indices: Any,
    b: Any,
    b_shape: Any,
    threshold: Any,
) -> Any:
    found, _, shape = (output.array for output in event.outputs)
    wanted, size = np.asarray(found, np.int64), tuple(int(n) for n in shape)
    total = _matched(m, a, _places(a_indices), wanted, size) + _matched(
        m, b, _places(b_indices), wanted, size
    )
    return m.constant(found), total, m.constant(shape)


@lower("SparseAddGrad")
def _add_grad(m: Any, event: Any, gy: Any, a_indices: Any, b_indices: Any, sum_indices: Any) -> Any:
    both = np.concatenate([_places(sum_indices), _places(a_indices), _places(b_indices)])
    shape = tuple(int(n) + 1 for n in both.max(axis=0))
    wanted = _places(sum_indices)
    return tuple(_matched(m, gy, wanted, _places(indices), shape) for indices in (a_indices, b_indices))


@lower("SparseReduceSum")
def _reduce_sum(m: Any, event: Any, indices: Any, values: Any, shape: Any, axes: Any) -> Any:
    dense = _dense(m, indices, values, ints(shape))
    return m.reshape(m.sum(dense, axes=axes_of(axes, dense)), shape=event.outputs[0].shape)


def _entrywise(name: str, op: str) -> None:
    """A sparse tensor and a dense one, broadcast to it, at the places of the sparse one."""

    @lower(name)
    def entrywise(m: Any, event: Any, indices: Any, values: Any, shape: Any, b: Any) -> Any:
        there = m.gather_nd(m.broadcast(b, shape=ints(shape)), _places(indices))
        return getattr(m, op)(values, there)


_entrywise("SparseDenseCwiseMul", "mul")
_entrywise("SparseDenseCwiseDiv", "div")
_entrywise("SparseDenseCwiseAdd", "add")


def _rows_of(places: Array, shape: tuple[int, ...]) -> tuple[Array, int]:
    """The number of the row (all axes but the last) of every value, and how many rows there are."""
    return _flat(places[:, :-1], shape[:-1]), math.prod(shape[:-1])


@lower("SparseSoftmax")
def _softmax(m: Any, event: Any, indices: Any, values: Any, shape: Any) -> Any:
    """Softmax over the values that are there, row by row; any shift serves that keeps exponentials finite."""
    row, n = _rows_of(_places(indices), ints(shape))
    largest = np.full(n, -np.inf)
    np.maximum.at(largest, row, np.asarray(values.value, np.float64))
    raised = m.exp(values - m.literal(largest[row]))
    return m.div(raised, m.take(m.scatter_add(raised, row, size=n), row, axis=0))


@lower("SparseFillEmptyRows")
def _fill_empty_rows(m: Any, event: Any, indices: Any, values: Any, shape: Any, default: Any) -> Any:
    found, _, empty, origin = (output.array for output in event.outputs)
    n = len(origin)
    back = np.full(len(found), n)  # the default stands behind the values
    back[origin] = np.arange(n)
    whole = m.concat(values, m.reshape(default, shape=(1,)), axis=0)
    return m.constant(found), m.take(whole, back, axis=0), m.constant(empty), m.constant(origin)


@lower("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def _fill_empty_rows_grad(m: Any, event: Any, origin: Any, gy: Any) -> Any:
    own = np.asarray(origin.value)
    filled = np.setdiff1d(np.arange(gy.shape[0]), own)
    return m.take(gy, own, axis=0), m.sum(m.take(gy, filled, axis=0), axes=(0,))


def _extreme(name: str, decision: str) -> None:
    @lower(name)
    def extreme(
        m: Any, event: Any, a_indices: Any, a: Any, a_shape: Any, b_indices: Any, b: Any, b_shape: Any
    ) -> Any:
        found, size = np.asarray(event.outputs[0].array, np.int64), ints(a_shape)
        one, other = (
            _matched(m, a, _places(a_indices), found, size),
            _matched(m, b, _places(b_indices), found, size),
        )
        return m.constant(event.outputs[0].array), m.select(getattr(m, decision)(one, other), one, other)


_extreme("SparseSparseMaximum", "greater_equal")
_extreme("SparseSparseMinimum", "less_equal")

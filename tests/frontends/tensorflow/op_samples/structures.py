"""Sparse and ragged tensors, and lists of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import composite_tensor_ops
from tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops as csr
from tests.frontends.tensorflow.op_samples._sample import Numbers, Sample, sample

raw = tf.raw_ops
d = Numbers(10)

A, B = [[0, 1], [1, 0], [2, 2]], [[0, 0], [1, 0], [2, 2]]


def _sparse(values: Any, places: Any = A) -> Any:
    return tf.SparseTensor(places, values, [3, 3])


def _ragged(values: Any) -> Any:
    return tf.RaggedTensor.from_row_splits(values, [0, 2, 2, 5])


def _list_of(x: Any) -> Any:
    return raw.TensorListFromTensor(tensor=x, element_shape=x.shape[1:])


def _stack(handle: Any, like: Any) -> Any:
    return raw.TensorListStack(input_handle=handle, element_shape=like.shape[1:], element_dtype=like.dtype)


def _set_and_get(x: Any, item: Any) -> Any:
    handle = raw.TensorListSetItem(input_handle=_list_of(x), index=1, item=item)
    return raw.TensorListGetItem(
        input_handle=handle, index=1, element_shape=item.shape, element_dtype=x.dtype
    ), _stack(handle, x)


def _push_and_pop(x: Any, item: Any) -> Any:
    handle = raw.TensorListPushBack(input_handle=_list_of(x), tensor=item)
    handle, last = raw.TensorListPopBack(input_handle=handle, element_shape=item.shape, element_dtype=x.dtype)
    return last, _stack(handle, x)


def _scattered(x: Any, y: Any) -> Any:
    handle = raw.TensorListScatterV2(tensor=x, indices=[2, 0, 1], element_shape=x.shape[1:], num_elements=4)
    handle = raw.TensorListScatterIntoExistingList(input_handle=handle, tensor=y, indices=[0])
    handle = raw.TensorListResize(input_handle=handle, size=3)
    return raw.TensorListGather(
        input_handle=handle, indices=[2, 0], element_shape=x.shape[1:], element_dtype=x.dtype
    )


def _split_and_concat(x: Any) -> Any:
    handle = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=[1, 2])
    return raw.TensorListConcatV2(
        input_handle=handle, element_shape=[-1, 2], leading_dims=[], element_dtype=x.dtype
    )[0]


def _scattered_v1(x: Any) -> Any:
    return _stack(raw.TensorListScatter(tensor=x, indices=[1, 0, 2], element_shape=x.shape[1:]), x)


def _joined(x: Any) -> Any:
    shape = x.shape[2:]
    return raw.TensorListConcat(
        input_handle=_list_of(x), element_dtype=x.dtype, element_shape=[None, *shape]
    )[0]


def _optional(x: Any) -> Any:
    box = raw.OptionalFromValue(components=[x])
    return raw.OptionalGetValue(optional=box, output_types=[x.dtype], output_shapes=[x.shape])


def _csr(values: Any, places: Any = A) -> Any:
    return csr.sparse_tensor_to_csr_sparse_matrix(
        indices=np.array(places), values=values, dense_shape=np.array([3, 3])
    )


def _dense(matrix: Any) -> Any:
    return csr.csr_sparse_matrix_to_dense(matrix, type=tf.float64)


def _csr_product(**options: Any) -> Any:
    return lambda v, b: csr.sparse_matrix_mat_mul(_csr(v), b, **options)


def _csr_turned(v: Any) -> Any:
    turned = csr.sparse_matrix_transpose(_csr(v), type=tf.float64)
    return csr.csr_sparse_matrix_to_sparse_tensor(turned, type=tf.float64).values


def _row_sums(v: Any) -> Any:
    return tf.map_fn(lambda row: tf.reduce_sum(row**2), _ragged(v), fn_output_signature=v.dtype)


def _row_squares(v: Any) -> Any:
    rows = tf.RaggedTensorSpec([None], v.dtype)
    return tf.map_fn(lambda row: row**2, _ragged(v), fn_output_signature=rows).flat_values


def _inner_sums(v: Any) -> Any:
    rows = tf.RaggedTensor.from_nested_row_splits(v, [[0, 2, 2, 3], [0, 3, 4, 7]])
    signature = tf.RaggedTensorSpec([None], v.dtype, ragged_rank=0)
    return tf.map_fn(
        lambda row: tf.reduce_sum(row**2, axis=1), rows, fn_output_signature=signature
    ).flat_values


def _composite(x: Any) -> Any:
    whole = composite_tensor_ops.composite_tensor_to_variants(_sparse(x))
    return composite_tensor_ops.composite_tensor_from_variant(whole, _sparse(x)._type_spec).values


SAMPLES: dict[str, Sample] = {
    "SparseTensorDenseMatMul": sample(lambda v, b: tf.sparse.sparse_dense_matmul(_sparse(v), b), d.any(3), d.any(3, 2)),
    "SparseToDense": sample(lambda v: tf.sparse.to_dense(_sparse(v)), d.any(3)),
    "SparseAdd": sample(lambda v, w: tf.sparse.add(_sparse(v), _sparse(w, B)).values, d.any(3), d.any(3)),
    "SparseTensorDenseAdd": sample(lambda v, b: tf.sparse.add(_sparse(v), b), d.any(3), d.any(3, 3)),
    "SparseReorder": sample(
        lambda v: tf.sparse.reorder(_sparse(v, [[2, 2], [0, 1], [1, 0]])).values, d.any(3)
    ),
    "SparseSlice": sample(lambda v: tf.sparse.slice(_sparse(v), [0, 0], [2, 2]).values, d.any(3)),
    "SparseReduceSum": sample(lambda v: tf.sparse.reduce_sum(_sparse(v), axis=1), d.any(3)),
    "SparseDenseCwiseMul": sample(lambda v, b: (_sparse(v) * b).values, d.any(3), d.any(3, 3)),
    "SparseDenseCwiseDiv": sample(lambda v, b: (_sparse(v) / b).values, d.any(3), d.positive(3, 3)),
    "SparseSoftmax": sample(
        lambda v: tf.sparse.softmax(_sparse(v, [[0, 0], [0, 2], [2, 2]])).values, d.any(3)
    ),
    "SparseFillEmptyRows": sample(
        lambda v, default: raw.SparseFillEmptyRows(
            indices=[[0, 0], [0, 2], [2, 2]], values=v, dense_shape=[3, 3], default_value=default
        )[1],
        d.any(3), d.any(),
    ),
    "RaggedTensorToTensor": sample(lambda v: _ragged(v).to_tensor(), d.any(5)),
    "RaggedTensorToTensor by rows": sample(
        lambda v: tf.RaggedTensor.from_value_rowids(v, [0, 0, 2, 2, 2], nrows=4).to_tensor(), d.any(5, 2)
    ),
    "RaggedGather": sample(lambda v: tf.gather(_ragged(v), [2, 0, 2]).flat_values, d.any(5)),
    "RaggedTensorToSparse": sample(lambda v: _ragged(v).to_sparse().values, d.any(5)),
    "ragged sum": sample(lambda v: tf.reduce_sum(_ragged(v), axis=1), d.any(5)),
    "RaggedFillEmptyRows": sample(
        lambda v, default: raw.RaggedFillEmptyRows(
            value_rowids=tf.constant([0, 0, 2], tf.int64), values=v, nrows=tf.constant(4, tf.int64),
            default_value=default,
        )[1],
        d.any(3), d.any(),
    ),
    "DenseToCSRSparseMatrix": sample(
        lambda x: _dense(csr.dense_to_csr_sparse_matrix(x, np.array(A))), d.any(3, 3)
    ),
    "SparseMatrixMatMul": sample(_csr_product(), d.any(3), d.any(3, 2)),
    "SparseMatrixMatMul turned": sample(
        _csr_product(transpose_a=True, transpose_b=True, transpose_output=True), d.any(3), d.any(2, 3)
    ),
    "SparseMatrixTranspose": sample(_csr_turned, d.any(3)),
    "RaggedTensorToVariant": sample(_row_sums, d.any(5, 2)),
    "RaggedTensorFromVariant": sample(_row_squares, d.any(5)),
    "RaggedTensorToVariant of rows of rows": sample(_inner_sums, d.any(7)),
    "CompositeTensorVariantFromComponents": sample(_composite, d.any(3)),
    "OptionalFromValue": sample(_optional, d.any(2)),
    "TensorListScatter": sample(_scattered_v1, d.any(3, 2)),
    "TensorListConcat": sample(_joined, d.any(3, 2, 2)),
    "TensorListSetItem": sample(_set_and_get, d.any(3, 2), d.any(2)),
    "TensorListPushBack": sample(_push_and_pop, d.any(3, 2), d.any(2)),
    "TensorListScatterV2": sample(_scattered, d.any(3, 2), d.any(1, 2)),
    "TensorListConcatV2": sample(_split_and_concat, d.any(3, 2)),
}  # fmt: skip

"""Products of vectors and matrices, and what NumPy's `linalg` offers."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.ir.shapes import joint_shape
from gradproof.tape.functions._operands import axes_of, operand, require_numbers, values
from gradproof.tape.functions._table import lowers
from gradproof.tape.functions.decisions import absolute
from gradproof.tape.functions.reductions import kept_shape, max_along, min_along


@lowers(np.matmul, np.linalg.matmul)
def _matmul(m: Any, y: Any, a: Any, b: Any, **options: Any) -> Any:
    require_numbers(y)
    if options.get("axes") or options.get("axis"):
        raise NotSupported("matmul along other axes")
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    rows = a if a.ndim > 1 else m.reshape(a, shape=(1, *a.shape))
    columns = b if b.ndim > 1 else m.reshape(b, shape=(*b.shape, 1))
    shape = (*joint_shape(rows.shape[:-2], columns.shape[:-2]), rows.shape[-2], columns.shape[-1])
    return m.reshape(m.record("matmul", [rows, columns], np.reshape(y, shape), {}), shape=y.shape)


@lowers(np.dot)
def _dot(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    if not a.ndim or not b.ndim:
        return m.mul(a, b)
    if b.ndim <= 2:
        rows = m.reshape(a, shape=(a.value.size // max(a.shape[-1], 1), a.shape[-1])) if a.ndim > 2 else a
        return m.reshape(_matmul(m, np.matmul(rows.value, b.value), rows, b), shape=y.shape)
    return _contracted(m, a, b, [a.ndim - 1], [b.ndim - 2])


def _contracted(m: Any, a: Any, b: Any, a_axes: list[int], b_axes: list[int]) -> Any:
    """Sums over pairs of axes; the other axes of `a` come first."""
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(a.ndim)]
    right = [next(letters) for _ in range(b.ndim)]
    for i, k in zip(a_axes, b_axes):
        right[k] = left[i]
    result = [c for i, c in enumerate(left) if i not in a_axes] + [
        c for k, c in enumerate(right) if k not in b_axes
    ]
    return m.einsum(a, b, equation=f"{''.join(left)},{''.join(right)}->{''.join(result)}")


@lowers(np.inner)
def _inner(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    return m.mul(a, b) if not a.ndim or not b.ndim else _contracted(m, a, b, [a.ndim - 1], [b.ndim - 1])


@lowers(np.tensordot, np.linalg.tensordot)
def _tensordot(m: Any, y: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    axes = values(axes)
    if isinstance(axes, int | np.integer):
        return _contracted(m, a, b, list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    pairs = [[int(k) % n for k in np.atleast_1d(group)] for group, n in zip(axes, (a.ndim, b.ndim))]
    return _contracted(m, a, b, *pairs)


@lowers(np.vdot)
def _vdot(m: Any, y: Any, a: Any, b: Any) -> Any:
    a, b = (m.reshape(operand(m, x, y.dtype), shape=(np.size(values(x)),)) for x in (a, b))
    return m.sum(m.mul(m.conj(a), b), axes=(0,))


@lowers(np.vecdot, np.linalg.vecdot)
def _vecdot(m: Any, y: Any, a: Any, b: Any, axis: Any = -1) -> Any:
    product = m.mul(m.conj(operand(m, a, y.dtype)), operand(m, b, y.dtype))
    return m.sum(product, axes=(int(axis) % product.ndim,))


@lowers(np.outer, np.linalg.outer)
def _outer(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    return m.mul(
        *(
            m.reshape(operand(m, x, y.dtype), shape=shape)
            for x, shape in ((a, (y.shape[0], 1)), (b, (1, y.shape[1])))
        )
    )


def _outer_of(op: str) -> Any:
    def lower(m: Any, y: Any, a: Any, b: Any) -> Any:
        require_numbers(y)
        a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
        return getattr(m, op)(m.reshape(a, shape=(*a.shape, *(1,) * b.ndim)), b)

    return lower


for _ufunc, _op in {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.true_divide: "div"}.items():
    lowers((_ufunc, "outer"))(_outer_of(_op))


@lowers(np.kron)
def _kron(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    ndim = max(a.ndim, b.ndim)
    shapes = [(*(1,) * (ndim - x.ndim), *x.shape) for x in (a, b)]
    left = m.reshape(a, shape=tuple(n for size in shapes[0] for n in (size, 1)))
    right = m.reshape(b, shape=tuple(n for size in shapes[1] for n in (1, size)))
    return m.reshape(m.mul(left, right), shape=y.shape)


@lowers(np.cross, np.linalg.cross)
def _cross(m: Any, y: Any, a: Any, b: Any, *axes: Any, **options: Any) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    if (
        axes
        or any(value not in (None, -1) for value in options.values())
        or a.shape[-1] != 3
        or b.shape[-1] != 3
    ):
        raise NotSupported("a cross product of other than three components along the last axis")
    (a1, a2), (b1, b2) = (
        [m.take(x, np.roll(np.arange(3), -k), axis=x.ndim - 1) for k in (1, 2)] for x in (a, b)
    )
    return m.sub(m.mul(a1, b2), m.mul(a2, b1))


@lowers(np.trace, np.linalg.trace)
def _trace(m: Any, y: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    if x.ndim != 2:
        raise NotSupported("the trace of a stack of matrices")
    return m.sum(m.diag_part(x, offset=int(offset)), axes=(0,))


@lowers(np.einsum)
def _einsum(m: Any, y: Any, *args: Any, **options: Any) -> Any:
    require_numbers(y)
    if not isinstance(args[0], str):
        raise NotSupported("einsum with lists of axes")
    xs = [operand(m, x, y.dtype) for x in args[1:]]
    return m.record("einsum", xs, y, {"equation": args[0]})


@lowers(np.linalg.multi_dot)
def _multi_dot(m: Any, y: Any, arrays: Any) -> Any:
    parts = [operand(m, x, y.dtype) for x in arrays]
    product = parts[0]
    for part in parts[1:]:
        product = _dot(m, np.dot(product.value, part.value), product, part)
    return product


@lowers(np.linalg.matrix_power)
def _matrix_power(m: Any, y: Any, a: Any, n: Any) -> Any:
    x, n = operand(m, a, y.dtype), int(n)
    if n == 0:
        return m.constant(y)
    x = m.inverse(x) if n < 0 else x
    product = x
    for _ in range(abs(n) - 1):
        product = m.matmul(product, x)
    return m.identity(product)


@lowers(np.linalg.norm)
def norm(m: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = operand(m, x, np.result_type(values(x), y.dtype))
    is_vector = (axis is None and (x.ndim == 1 or ord is None)) or isinstance(axis, int | np.integer)
    axes = axes_of(axis, x.ndim)
    if ord in (None, "fro") or (ord == 2 and is_vector):
        return kept_shape(m, _root(m, m.sum(squares(m, x), axes=axes)), y)
    if not is_vector or isinstance(ord, str):
        raise NotSupported(f"a matrix norm of order {ord}")
    return kept_shape(m, _vector_norm(m, _sizes(m, x), ord, axes), y)


def _root(m: Any, total: Any) -> Any:
    """The square root; the length of nothing has a slope of zero, not one that is 0 times infinity."""
    is_zero = m.equal(total, m.constant(np.zeros((), total.value.dtype)))
    one = m.constant(np.ones((), total.value.dtype))
    return m.select(is_zero, total, m.sqrt(m.select(is_zero, one, total)))


def _sizes(m: Any, x: Any) -> Any:
    return absolute(m, np.abs(x.value), x)


def squares(m: Any, x: Any) -> Any:
    """|x|^2 of every entry, a real number."""
    if x.value.dtype.kind != "c":
        return m.square(x)
    return m.add(m.square(m.real(x)), m.square(m.imag(x)))


def _vector_norm(m: Any, size: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    if ord in (np.inf, -np.inf):
        pick, reduce = (max_along, np.max) if ord > 0 else (min_along, np.min)
        return pick(m, reduce(size.value, axis=axes), size, axes)
    if ord == 0:
        raise NotSupported("counting entries that are not zero")
    if ord == 1:
        return m.sum(size, axes=axes)
    exponent = m.constant(np.asarray(ord, size.value.dtype))
    return m.power(m.sum(m.power(size, exponent), axes=axes), m.reciprocal(exponent))

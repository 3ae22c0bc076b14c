"""Norms, and distances between points with their backward ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import axes_of, is_complex, kept, lower, number
from gradproof.frontends.torch.lower._transposed import confirmed, gradients
from gradproof.frontends.torch.lower.elementary import absolute
from gradproof.frontends.torch.lower.lu import turned
from gradproof.frontends.torch.lower.reduce import extreme
from gradproof.ops.complex import modulus


@lower("_euclidean_dist")
def _euclidean(m: Any, e: Any, a: Any, b: Any) -> Any:
    """By |a|^2 - 2 a b + |b|^2, as the kernel has it: one product of matrices, in which digits may cancel."""
    norms = [m.sum(m.square(x), axes=(x.ndim - 1,)) for x in (a, b)]
    own, other = (m.reshape(n, shape=(*n.shape, 1)) for n in norms)
    ones = [m.literal(np.ones((*x.shape[:-1], 1), x.value.dtype)) for x in (a, b)]
    left = m.concat(m.mul(a, -2), own, ones[0], axis=a.ndim - 1)
    right = m.concat(b, ones[1], other, axis=b.ndim - 1)
    squares = m.matmul(left, turned(m, right))
    # The kernel lifts squares that rounding has made negative to 0. No exact one is negative: that is no branch.
    return m.sqrt(squares)


def _distances(m: Any, a: Any, b: Any, p: float) -> Any:
    first = m.reshape(a, shape=(*a.shape[:-1], 1, a.shape[-1]))
    second = m.reshape(b, shape=(*b.shape[:-2], 1, *b.shape[-2:]))
    z = m.sub(first, second)
    return norm_of(m, z, p, (z.ndim - 1,))


@lower("_cdist_forward")
def _cdist(m: Any, e: Any, a: Any, b: Any, p: float, mode: Any = None) -> Any:
    n_rows = max(a.shape[-2], b.shape[-2])
    if p == 2.0 and (mode == 1 or (mode in (None, 0) and n_rows > 25)):
        return _euclidean(m, e, a, b)
    return _distances(m, a, b, p)


@lower("_cdist_backward")
def _cdist_backward(m: Any, e: Any, gy: Any, a: Any, b: Any, p: float, y: Any) -> Any:
    """For the first points."""
    return confirmed(e, gradients(m, lambda x: _distances(m, x, b, p), [a], [gy]))


def _pairs(m: Any, x: Any, p: float) -> Any:
    first, second = np.triu_indices(x.shape[0], 1)
    z = m.sub(m.take(x, first, axis=0), m.take(x, second, axis=0))
    return norm_of(m, z, p, (1,))


@lower("_pdist_forward")
def _pdist(m: Any, e: Any, x: Any, p: float = 2.0) -> Any:
    return _pairs(m, x, p)


@lower("_pdist_backward")
def _pdist_backward(m: Any, e: Any, gy: Any, x: Any, p: float, y: Any) -> Any:
    return confirmed(e, gradients(m, lambda v: _pairs(m, v, p), [x], [gy]))


@lower("linalg_vector_norm")
def _vector_norm(
    m: Any, e: Any, x: Any, ord: Any = 2, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    axes = axes_of(dim, x)
    return kept(m, norm_of(m, x, float(ord), axes), x, axes, keepdim)


@lower("norm")
def _norm(
    m: Any, e: Any, x: Any, p: Any = 2, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    axes = axes_of(dim, x)
    return kept(m, norm_of(m, x, 2.0 if p is None else float(p), axes), x, axes, keepdim)


def norm_of(m: Any, x: Any, order: float, axes: tuple[int, ...]) -> Any:
    if order == 2.0:
        squares = m.square(x) if not is_complex(x) else m.add(m.square(m.real(x)), m.square(m.imag(x)))
        return m.sqrt(m.sum(squares, axes=axes) if axes else squares)
    size = modulus(m, x) if is_complex(x) else absolute(m, x)
    if math.isinf(order):
        return extreme(m, size, axes, order > 0)[0]
    if order == 0.0:
        return m.sum(m.cast(m.not_equal(size, 0), dtype=str(size.value.dtype)), axes=axes)
    total = m.sum(size if order == 1.0 else m.power(size, number(m, order, x)), axes=axes)
    return total if order == 1.0 else m.power(total, number(m, 1.0 / order, x))


@lower("dist")
def _dist(m: Any, e: Any, a: Any, b: Any, p: Any = 2) -> Any:
    x = m.sub(a, b)
    return norm_of(m, x, float(p), tuple(range(x.ndim)))

"""Distances between points, and their backward ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower
from gradproof.frontends.torch.lower._transposed import confirmed, gradients
from gradproof.frontends.torch.lower.lu import turned
from gradproof.frontends.torch.lower.reduce import norm_of


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

"""Linear equations, Cholesky factors and determinants of float64 balls, proven with a few float64 products.

An approximate answer by LAPACK comes first; then products of balls bound how far it can be off. Every function
returns None where nothing could be proven; arbitrary precision has the last word then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from gradproof.domains.ball64 import Ball64, all_finite, known, sub
from gradproof.domains.entrywise64 import kernel_of
from gradproof.domains.exact_product64 import entrywise_product, is_known, sharp_product
from gradproof.domains.rounding64 import up
from gradproof.ir.types import Array

_CONTRACTS = 0.125  # how far a product that should be the identity may be from it
_REFINEMENTS = 2  # steps after which the residual is as small as float64 has it
_LOG: Any = kernel_of("log")


def solve(a: Ball64, b: Ball64) -> Ball64 | None:
    """The x with a x = b, for every a and b in the balls.

    With an approximate inverse r and an approximate x0, d = x - x0 obeys d = s + e d, where s = r (b - a x0) and
    e = I - r a. If c, the largest row sum of |e|, is below one, then max|d| <= max|s| / (1 - c), column by column, and
    |d| <= |s| + |e| max|d|. That c is below one proves a to be regular, too.
    """
    if not (is_known(a) and is_known(b)):
        return None
    r = _attempt(np.linalg.inv, a.mid)
    if r is None:
        return None
    inverse = Ball64(r)
    defect = _remainder(Ball64(np.eye(r.shape[-1])), inverse, a).magnitude()
    rows = up(np.sum(defect, axis=-1, keepdims=True), defect.shape[-1] + 8)
    contraction = np.max(rows, axis=-2, keepdims=True, initial=0.0)
    if not (contraction < _CONTRACTS).all():
        return None
    x = np.matmul(r, b.mid)
    for _ in range(_REFINEMENTS):
        x = x + np.matmul(r, _remainder(b, a, Ball64(x)).mid)
    residual = _remainder(b, a, Ball64(x))
    step = entrywise_product(inverse, residual).magnitude()
    largest = up(np.max(step, axis=-2, keepdims=True, initial=0.0) / (1.0 - contraction))
    return known(x, up(step + rows * largest))


def inverse(a: Ball64) -> Ball64 | None:
    return solve(a, Ball64(np.broadcast_to(np.eye(a.shape[-1]), a.shape)))


def cholesky(a: Ball64) -> Ball64 | None:
    """The lower factor; only the lower triangle of `a` is read.

    With w an approximate inverse of the factor, lower triangular, a = m (I + f) m^T, where m is the exact inverse of w
    and f = w a w^T - I. The factor is m (I + g), where (I + g)(I + g)^T = I + f. For a lower triangular g,
    sqrt(2) |g| <= |g + g^T| <= |f| + |g|^2 in the Frobenius norm, so that |g|, which grows from 0 with |f|, is at most
    sqrt(2) |f| / (1 + sqrt(1 - 2 |f|)) <= |f| while |f| <= 1/8. Hence an entry of g, at most that of f - g g^T, is at
    most the entry of f and |f|^2.
    """
    a = _symmetric(a)
    if not is_known(a):
        return None
    factor = _attempt(np.linalg.cholesky, a.mid)
    w = None if factor is None else _attempt(np.linalg.inv, factor)
    if w is None:
        return None
    w = np.tril(w)
    m = inverse(Ball64(w))
    if m is None:
        return None
    f = _distance_from_identity(w, a, np.swapaxes(w, -1, -2))
    size = _frobenius(f)
    if not (size < _CONTRACTS).all():
        return None
    g = np.tril(up(f + up(np.square(size))))
    off = up(np.matmul(m.magnitude(), g), a.shape[-1] + 16)
    return known(np.tril(m.mid), np.tril(up(m.radius() + off)))


def log_abs_det(a: Ball64) -> Ball64 | None:
    """log |det a|, from approximate inverses of the triangular factors.

    With x and y such inverses, x a y = I + f. The eigenvalues of f are at most |f|, and their moduli add up to at most
    sqrt(n) |f|, in the Frobenius norm; so |log |det(I + f)|| <= sqrt(n) |f| / (1 - |f|). The determinant of x is 1 or
    -1, that of y the product of its diagonal.
    """
    if not is_known(a) or a.size == 0:
        return None
    factors = _attempt(_triangular_inverses, a.mid)
    if factors is None:
        return None
    x, y = factors
    size = _frobenius(_distance_from_identity(x, a, y))
    if not (size < _CONTRACTS).all():
        return None
    rest = up(np.sqrt(a.shape[-1]) * size / (1.0 - size))[..., 0, 0]
    logs = _LOG(Ball64(np.abs(np.diagonal(y, axis1=-2, axis2=-1))))
    total = np.sum(np.abs(logs.mid), axis=-1) * ((a.shape[-1] + 1) * 2.0**-53) + np.sum(
        logs.radius(), axis=-1
    )
    mid, rad = np.asarray(-np.sum(logs.mid, axis=-1)), np.asarray(up(rest + total, a.shape[-1] + 16))
    return Ball64(mid, rad)


def _triangular_inverses(a: Array) -> tuple[Array, Array]:
    """x and y with x a y close to the identity, up to a permutation of rows inside x; x has determinant 1 or -1."""
    n = a.shape[-1]
    stack = a.reshape(-1, n, n)
    xs, ys = np.empty_like(stack), np.empty_like(stack)
    for k, one in enumerate(stack):
        p, lower, upper = scipy.linalg.lu(one)
        unit = np.tril(np.linalg.inv(lower), -1) + np.eye(n)
        # Columns of a unit triangle in another order: entries are moved, not changed.
        xs[k] = unit @ p.T
        ys[k] = np.triu(np.linalg.inv(upper))
    if not (all_finite(xs) and all_finite(ys) and np.diagonal(ys, axis1=-2, axis2=-1).all()):
        raise np.linalg.LinAlgError
    return xs.reshape(a.shape), ys.reshape(a.shape)


def _remainder(goal: Ball64, a: Ball64, b: Ball64) -> Ball64:
    """goal - a b, sharp where the product comes close to its goal."""
    main, rest = sharp_product(a, b, entrywise_product)
    return sub(sub(goal, Ball64(main)), rest)


def _distance_from_identity(left: Array, a: Ball64, right: Array) -> Array:
    """An upper bound of the entries of left a right - I."""
    main, rest = sharp_product(Ball64(left), a, entrywise_product)
    first = main + rest.mid
    # What the rounding of this sum has left behind, exactly (Knuth's sum of two).
    part = first - main
    behind = Ball64((main - (first - part)) + (rest.mid - part), rest.rad)
    remainder = _remainder(Ball64(np.eye(a.shape[-1])), Ball64(first), Ball64(right))
    return sub(remainder, entrywise_product(behind, Ball64(right))).magnitude()


def _frobenius(sizes: Array) -> Array:
    n = sizes.shape[-1]
    scale = np.maximum(np.max(sizes, axis=(-2, -1), keepdims=True, initial=0.0), 1e-100)
    squares = np.sum(np.square(sizes / scale), axis=(-2, -1), keepdims=True)
    return up(scale * np.sqrt(squares), n * n + 16)


def _symmetric(a: Ball64) -> Ball64:
    def mirrored(x: Array) -> Array:
        below = np.tril(x, -1)
        return np.tril(x) + np.swapaxes(below, -1, -2)

    return Ball64(mirrored(a.mid), None if a.rad is None else mirrored(a.rad))


def _attempt(function: Any, x: Array) -> Any:
    """What LAPACK says; None where it gives up or returns something that is not finite."""
    try:
        y = function(x)
    except np.linalg.LinAlgError:
        return None
    return y if isinstance(y, tuple) or all_finite(y) else None

"""Functions of whole matrices: least squares, pseudo-inverse, exponential, square root."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._op import ANY, Sample, op
from gradproof.ops.linalg import adjoint


def _identity(m: Any, n: int) -> Any:
    return m.literal(np.eye(n))


def _gram(m: Any, a: Any, is_tall: bool, l2: float) -> Any:
    """a^H a or a a^H, whichever is smaller and so of full rank, plus l2 times the identity."""
    gram = m.matmul(adjoint(m, a), a) if is_tall else m.matmul(a, adjoint(m, a))
    return m.add(gram, m.mul(_identity(m, min(a.shape[-2:])), l2)) if l2 else gram


def _lstsq_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, b: Any, l2: float = 0.0) -> Any:
    is_tall = a.shape[-2] >= a.shape[-1]
    gram = _gram(m, a, is_tall, l2)
    if is_tall:
        moved = m.solve(gram, gy)
        if i == 1:
            return m.sum_to(m.matmul(a, moved), shape=b.shape)
        ga = m.sub(
            m.matmul(m.sub(b, m.matmul(a, y)), adjoint(m, moved)),
            m.matmul(m.matmul(a, moved), adjoint(m, y)),
        )
    else:
        moved = m.solve(gram, m.matmul(a, gy))
        if i == 1:
            return m.sum_to(moved, shape=b.shape)
        weights = m.solve(gram, b)
        ga = m.sub(
            m.matmul(weights, adjoint(m, m.sub(gy, m.matmul(adjoint(m, a), moved)))),
            m.matmul(moved, adjoint(m, y)),
        )
    return m.sum_to(ga, shape=a.shape)


_TALL = ((1.0, -1.0), (0.25, 2.0), (3.0, 0.5))
_WIDE = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_SQUARE = ((4.0, 1.0, -0.5), (0.5, 3.0, 1.0), (-1.0, 0.25, 2.0))
_STACK = (((2.0, 1.0), (0.5, 3.0)), ((1.0, -0.25), (0.25, 1.5)))

# For a matrix of full rank: of all x with the least |a x - b|^2 + l2 |x|^2 the shortest.
op(
    "lstsq",
    pullback=_lstsq_pullback,
    samples=(
        Sample((_TALL, ((1.0,), (2.0,), (-0.5,)))),
        Sample((_WIDE, ((1.0, 0.5), (2.0, -3.0)))),
        Sample((_TALL, ((1.0,), (2.0,), (-0.5,))), {"l2": 0.5}),
        Sample((_WIDE, ((1.0,), (2.0,))), {"l2": 0.25}),
        Sample((_STACK, ((1.0,), (2.0,)))),
    ),
    kinds=ANY,
)


def _pinv_pullback(m: Any, i: int, gy: Any, y: Any, a: Any) -> Any:
    back, g_back = adjoint(m, y), adjoint(m, gy)
    ga = -m.matmul(m.matmul(back, gy), back)
    if a.shape[-2] > a.shape[-1]:  # what lies outside the columns of `a`
        inner = m.matmul(m.matmul(g_back, y), back)
        return m.add(ga, m.sub(inner, m.matmul(a, m.matmul(y, inner))))
    if a.shape[-2] < a.shape[-1]:  # what lies outside its rows
        inner = m.matmul(m.matmul(back, y), g_back)
        return m.add(ga, m.sub(inner, m.matmul(m.matmul(inner, y), a)))
    return ga


# The pseudo-inverse of a matrix of full rank.
op("pinv", pullback=_pinv_pullback, samples=((_SQUARE,), (_TALL,), (_WIDE,), (_STACK,)), kinds=ANY)


def _sylvester(m: Any, a: Any, b: Any, c: Any) -> Any:
    """Written out as one linear system for all entries of x, row by row."""
    n, k = a.shape[-1], b.shape[-1]
    left = m.einsum(a, _identity(m, k), equation="...ij,kl->...ikjl")
    right = m.einsum(_identity(m, n), b, equation="ij,...lk->...ikjl")
    system = m.add(left, right)
    system = m.reshape(system, shape=(*system.shape[:-4], n * k, n * k))
    x = m.solve(system, m.reshape(c, shape=(*c.shape[:-2], n * k, 1)))
    return m.reshape(x, shape=(*x.shape[:-2], n, k))


def _sylvester_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, b: Any, c: Any) -> Any:
    gc = m.sylvester(adjoint(m, a), adjoint(m, b), gy)
    if i == 2:
        return m.sum_to(gc, shape=c.shape)
    if i == 0:
        return m.sum_to(-m.matmul(gc, adjoint(m, y)), shape=a.shape)
    return m.sum_to(-m.matmul(adjoint(m, y), gc), shape=b.shape)


# The x with a x + x b = c.
op(
    "sylvester",
    forward=_sylvester,
    pullback=_sylvester_pullback,
    samples=((_SQUARE, _STACK[0], _TALL), (_STACK, _STACK[0], _STACK[1])),
    kinds=ANY,
)
# The root whose eigenvalues have positive real parts; there is one unless an eigenvalue is zero or negative.
op(
    "matrix_sqrt",
    pullback=lambda m, i, gy, y, a: m.sylvester(adjoint(m, y), adjoint(m, y), gy),
    samples=((_SQUARE,), (_STACK,), (((1.0, 0.0), (0.0, 1.0)),), (((1.0, -2.0), (2.0, 1.0)),)),
    kinds=ANY,
)


def _matrix_exp_pullback(m: Any, i: int, gy: Any, y: Any, a: Any) -> Any:
    """The upper right block of exp([[a^H, gy], [0, a^H]]) is the derivative of exp at a^H in direction gy."""
    n = a.shape[-1]
    on_diagonal = m.einsum(m.literal(np.eye(2)), adjoint(m, a), equation="ij,...ab->...iajb")
    upper_right = m.einsum(m.literal(np.array([[0.0, 1.0], [0.0, 0.0]])), gy, equation="ij,...ab->...iajb")
    blocks = m.add(on_diagonal, upper_right)
    whole = m.matrix_exp(m.reshape(blocks, shape=(*a.shape[:-2], 2 * n, 2 * n)))
    lead = tuple(a.shape[:-2])
    return m.strided_slice(whole, begin=(*(0,) * len(lead), 0, n), end=(*lead, n, 2 * n))


op(
    "matrix_exp",
    pullback=_matrix_exp_pullback,
    samples=((_SQUARE,), (_STACK,), (((0.0, 1.0), (0.0, 0.0)),)),
    kinds=ANY,
)

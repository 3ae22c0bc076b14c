"""Factors of matrices: Cholesky and QR."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import ANY, Sample, op
from gradproof.ops.linalg import adjoint, triangle


def hermitian_part(m: Any, a: Any) -> Any:
    """(a + its adjoint) / 2.

    Frameworks read one triangle of a symmetric matrix, yet return the gradient for the space of symmetric
    matrices. A frontend says so by factorising the Hermitian part: the same value, and that gradient.
    """
    return m.mul(m.add(a, adjoint(m, a)), 0.5)


def _mirror_lower(m: Any, a: Any) -> Any:
    below = triangle(m, a, skip_diagonal=True)
    diagonal = m.band(a, lower=0, upper=0)
    real = m.mul(m.add(diagonal, m.conj(diagonal)), 0.5)
    return m.add(m.add(below, real), adjoint(m, below))


def fold_lower(m: Any, gy: Any) -> Any:
    """The gradient for the lower triangle from one for the whole Hermitian matrix."""
    below = triangle(m, m.add(gy, adjoint(m, gy)), skip_diagonal=True)
    diagonal = m.band(gy, lower=0, upper=0)
    return m.add(below, m.mul(m.add(diagonal, m.conj(diagonal)), 0.5))


_SQUARE = ((4.0, 1.0, -0.5), (0.5, 3.0, 1.0), (-1.0, 0.25, 2.0))
_POSITIVE = ((4.0, 1.0, -0.5), (1.0, 3.0, 0.25), (-0.5, 0.25, 2.0))
_STACK = (((2.0, 1.0), (0.5, 3.0)), ((1.0, -0.25), (0.25, 1.5)))

# The Hermitian matrix whose lower triangle is given: what the functions below make of the triangle they read.
op(
    "mirror_lower",
    forward=_mirror_lower,
    pullback=lambda m, i, gy, y, a: fold_lower(m, gy),
    linear="jointly",
    samples=((_SQUARE,), (_STACK,)),
    kinds=ANY,
)


def _half_lower(m: Any, x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return m.mul(m.add(triangle(m, x), triangle(m, x, skip_diagonal=True)), 0.5)


def _cholesky_pullback(m: Any, i: int, gy: Any, y: Any, a: Any) -> Any:
    """From dy = y half(y^-1 da y^-H), read backwards, then folded onto the triangle that was read."""
    inner = _half_lower(m, m.matmul(adjoint(m, y), triangle(m, gy)))
    left = m.triangular_solve(y, inner, adjoint=True)
    full = adjoint(m, m.triangular_solve(y, adjoint(m, left), adjoint=True))
    return fold_lower(m, full)


# The lower factor of a positive definite matrix, of which only the lower triangle is read.
op("cholesky", pullback=_cholesky_pullback, samples=((_POSITIVE,), (_SQUARE,), (_STACK,)), kinds=ANY)


def _qr_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, signs: Any) -> Any:
    (q, r), (gq, gr) = y, gy
    rows, columns = a.shape[-2:]
    if rows >= columns:
        return _tall_pullback(m, gq, gr, q, r)
    # A wide matrix is a square one, which alone makes q, and further columns b with q^H b as their part of r.
    square, rest = _columns(m, r, 0, rows), _columns(m, a, rows, columns)
    g_square, g_rest = _columns(m, gr, 0, rows), _columns(m, gr, rows, columns)
    gq = m.add(gq, m.matmul(rest, adjoint(m, g_rest)))
    return m.concat(_tall_pullback(m, gq, g_square, q, square), m.matmul(q, g_rest), axis=a.ndim - 1)


def _columns(m: Any, x: Any, first: int, end: int) -> Any:
    lead = tuple(x.shape[:-1])
    return m.strided_slice(x, begin=(*(0,) * len(lead), first), end=(*lead, end))


def _tall_pullback(m: Any, gq: Any, gr: Any, q: Any, r: Any) -> Any:
    inner = m.sub(m.matmul(r, adjoint(m, triangle(m, gr, lower=False))), m.matmul(adjoint(m, gq), q))
    lower = triangle(m, inner, skip_diagonal=True)
    mirrored = m.add(triangle(m, inner), adjoint(m, lower))
    whole = m.add(gq, m.matmul(q, mirrored))
    return adjoint(m, m.triangular_solve(r, adjoint(m, whole), lower=False))


_TALL = ((1.0, -1.0), (0.25, 2.0), (3.0, 0.5))
_WIDE = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))

# Reduced factors of a matrix of full rank. They are unique but for signs, and which signs a library picks is
# a discrete fact of the run: the second input has the signs of the diagonal of R, of shape (..., 1, rank).
op(
    "qr",
    pullback=_qr_pullback,
    n_outputs=2,
    samples=(
        Sample((_SQUARE, ((1, 1, 1),))),
        Sample((_TALL, ((-1, 1),))),
        Sample((_WIDE, ((1, -1),))),
        Sample((_STACK, (((1, 1),), ((-1, -1),)))),
    ),
)

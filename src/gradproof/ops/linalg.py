"""Matrix products, solutions of linear equations, inverses and determinants; leading axes are stacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._op import ANY, Sample, op

_A = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_B = ((1.0, -1.0), (0.25, 2.0), (3.0, 0.5))
_REGULAR = ((4.0, 1.0, -0.5), (0.5, 3.0, 1.0), (-1.0, 0.25, 2.0))
_STACK = (((2.0, 1.0), (0.5, -3.0)), ((1.0, -0.25), (4.0, 1.5)))
_PAIR = ((1.0, 0.5), (-2.0, 3.0))
_SINGULAR = ((1.0, 2.0, 3.0), (2.0, 4.0, 6.0), (0.5, -1.0, 7.0))
_RANK_ONE = ((1.0, 2.0, -1.0), (2.0, 4.0, -2.0), (-3.0, -6.0, 3.0))


def adjoint(m: Any, x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return m.conj(m.transpose(x, order=order))


def times_matrix(m: Any, s: Any, x: Any) -> Any:
    """Numbers of shape (...) times matrices of shape (..., n, k)."""
    return m.mul(m.reshape(s, shape=(*s.shape, 1, 1)), x)


def trace(m: Any, x: Any) -> Any:
    return m.einsum(x, equation="...ii->...")


def _matmul_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, b: Any) -> Any:
    if i == 0:
        return m.sum_to(m.matmul(gy, adjoint(m, b)), shape=a.shape)
    return m.sum_to(m.matmul(adjoint(m, a), gy), shape=b.shape)


# Both operands have two axes or more; leading ones broadcast.
op("matmul", pullback=_matmul_pullback, linear="each", samples=((_A, _B), ((_A, _A), _B)), kinds=ANY)


def triangle(m: Any, x: Any, lower: bool = True, skip_diagonal: bool = False) -> Any:
    """One triangle of the last two axes, zero elsewhere."""
    row, column = np.ogrid[: x.shape[-2], : x.shape[-1]]
    keep = (row > column) if lower else (row < column)
    return m.select(keep if skip_diagonal else keep | (row == column), x, m.zeros(()))


def _solve_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, b: Any) -> Any:
    gb = m.solve(adjoint(m, a), gy)
    if i == 1:
        return m.sum_to(gb, shape=b.shape)
    return m.sum_to(-m.matmul(gb, adjoint(m, y)), shape=a.shape)


op("solve", pullback=_solve_pullback, samples=((_REGULAR, _B), (_STACK, _PAIR), (_PAIR, _STACK)), kinds=ANY)


def _triangular_solve(
    m: Any, a: Any, b: Any, lower: bool = True, adjoint: bool = False, unit_diagonal: bool = False
) -> Any:
    part = triangle(m, a, lower, skip_diagonal=unit_diagonal)
    part = m.add(part, m.literal(np.eye(a.shape[-1]))) if unit_diagonal else part
    return m.solve(_adjoint(m, part) if adjoint else part, b)


_adjoint = adjoint  # where a parameter has the name


def _triangular_solve_pullback(
    m: Any, i: int, gy: Any, y: Any, a: Any, b: Any,
    lower: bool = True, adjoint: bool = False, unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    gb = m.triangular_solve(a, gy, lower=lower, adjoint=not adjoint, unit_diagonal=unit_diagonal)
    if i == 1:
        return m.sum_to(gb, shape=b.shape)
    left, right = (y, gb) if adjoint else (gb, y)
    ga = m.sum_to(-m.matmul(left, _adjoint(m, right)), shape=a.shape)
    return triangle(m, ga, lower, skip_diagonal=unit_diagonal)


op(
    "triangular_solve",
    forward=_triangular_solve,
    pullback=_triangular_solve_pullback,
    samples=(
        Sample((_REGULAR, _B)),
        Sample((_REGULAR, _B), {"lower": False}),
        Sample((_REGULAR, _B), {"lower": True, "adjoint": True}),
        Sample((_STACK, _PAIR), {"lower": False, "adjoint": True, "unit_diagonal": True}),
    ),
    kinds=ANY,
)


def _inverse_pullback(m: Any, i: int, gy: Any, y: Any, a: Any) -> Any:
    back = adjoint(m, y)
    return -m.matmul(m.matmul(back, gy), back)


op("inverse", pullback=_inverse_pullback, samples=((_REGULAR,), (_STACK,)), kinds=ANY)
op(
    "det",
    # The adjugate, not det * inverse: the derivative of the determinant of a singular matrix exists.
    pullback=lambda m, i, gy, y, a: times_matrix(m, gy, adjoint(m, m.adjugate(a))),
    samples=((_REGULAR,), (_STACK,), (_SINGULAR,), (_RANK_ONE,)),
    kinds=ANY,
)
# For real matrices. Of a complex one, take the logarithm of the size of its determinant.
op(
    "log_abs_det",
    pullback=lambda m, i, gy, y, a: times_matrix(m, gy, adjoint(m, m.inverse(a))),
    samples=((_REGULAR,), (_STACK,)),
)


def _adjugate_pullback(m: Any, i: int, gy: Any, y: Any, a: Any) -> Any:
    """Reverse mode through the recursion of Faddeev and LeVerrier, which divides by integers only.

    With M_1 = 1, S_k = a M_k and M_{k+1} = S_k - tr(S_k)/k, the adjugate is M_n up to sign.
    """
    n = a.shape[-1]
    identity = m.literal(np.eye(n))
    terms = [m.add(m.zeros(tuple(a.shape)), identity)]
    for k in range(1, n):
        product = m.matmul(a, terms[-1])
        terms.append(m.sub(product, times_matrix(m, m.div(trace(m, product), k), identity)))
    g_term = gy if n % 2 else -gy
    ga = m.zeros(tuple(a.shape))
    for k in range(n - 1, 0, -1):
        g_product = m.sub(g_term, times_matrix(m, m.div(trace(m, g_term), k), identity))
        ga = m.add(ga, m.matmul(g_product, adjoint(m, terms[k - 1])))
        g_term = m.matmul(adjoint(m, a), g_product)
    return ga


# The transposed cofactors: a times its adjugate is det(a) times the identity.
op(
    "adjugate",
    pullback=_adjugate_pullback,
    samples=((_REGULAR,), (_STACK,), (_SINGULAR,), (_RANK_ONE,), (((3.0,),),)),
    kinds=ANY,
)

"""Matrix products, solutions and factorisations."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import op

_A = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_B = ((1.0, -1.0), (0.25, 2.0), (3.0, 0.5))


def adjoint(m: Any, x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return m.conj(m.transpose(x, order=order))


def _matmul_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, b: Any) -> Any:
    if i == 0:
        return m.sum_to(m.matmul(gy, adjoint(m, b)), shape=a.shape)
    return m.sum_to(m.matmul(adjoint(m, a), gy), shape=b.shape)


# Both operands have two axes or more; leading ones broadcast.
op("matmul", pullback=_matmul_pullback, linear="each", samples=((_A, _B), ((_A, _A), _B)))

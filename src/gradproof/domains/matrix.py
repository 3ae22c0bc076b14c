"""Matrix functions of arbitrary-precision balls, enclosed by python-flint or by plain elimination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flint
import numpy as np
from flint import acb, arb

from gradproof.domains import eigen
from gradproof.domains.flint_matrix import (
    GUARD_BITS,
    UNKNOWN,
    from_flint,
    is_complex,
    real,
    to_flint,
    unknown,
)
from gradproof.domains.matrix_root import matrix_sqrt
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array


def per_matrix(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A function of single matrices, applied to every matrix of stacks whose leading axes broadcast."""

    def stacked(*xs: Array, **params: Any) -> Any:
        xs = tuple(np.asarray(x) for x in xs)
        lead = joint_shape(*(x.shape[:-2] for x in xs))
        if not lead:
            return kernel(*xs, **params)
        spread = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in xs]
        results = [kernel(*(x[place] for x in spread), **params) for place in np.ndindex(*lead)]
        # A stack of no matrices still has a shape: that of the result for any matrices.
        like = results[0] if results else kernel(*map(_any_matrix, xs), **params)
        if isinstance(like, tuple):
            return tuple(_stack([result[k] for result in results], lead, part) for k, part in enumerate(like))
        return _stack(results, lead, like)

    return stacked


def _stack(parts: list[Array], lead: tuple[int, ...], like: Array) -> Array:
    y = np.empty((len(parts), *np.shape(like)), dtype=object)
    for place, part in enumerate(parts):
        y[place, ...] = part
    return y.reshape(*lead, *np.shape(like))


def _any_matrix(x: Array) -> Array:
    return np.ones(x.shape[-2:], np.int64) if x.dtype.kind in "biu" else _eye(*x.shape[-2:])


def _solve(a: Array, b: Array) -> Array:
    if a.size == 0 or b.size == 0:
        return b
    mixed = is_complex(a, b)
    try:
        return from_flint(to_flint(a, mixed).solve(to_flint(b, mixed)))
    except ZeroDivisionError:
        return unknown(b.shape)


def _inverse(a: Array) -> Array:
    if a.size == 0:
        return a
    try:
        return from_flint(to_flint(a).inv())
    except ZeroDivisionError:
        return unknown(a.shape)


def _det(a: Array) -> Array:
    return np.asarray(to_flint(a).det() if a.size else arb(1), dtype=object)


def _log_abs_det(a: Array) -> Array:
    size = abs(_det(a).item())
    return np.asarray(UNKNOWN if size.contains(0) else size.log(), dtype=object)


def _adjugate(a: Array) -> Array:
    """det(a) times the inverse; where that is not known, the recursion that divides by integers only."""
    if a.size == 0:
        return a
    y = np.asarray(_inverse(a) * _det(a), dtype=object)
    if all(entry.is_finite() for entry in y.reshape(-1)):
        return y
    before = flint.ctx.prec
    flint.ctx.prec = 2 * before + GUARD_BITS  # the recursion cancels; exact input pays nothing for it
    try:
        return _faddeev_leverrier(a)
    finally:
        flint.ctx.prec = before


def _faddeev_leverrier(a: Array) -> Array:
    n = a.shape[0]
    matrix, term = to_flint(a), to_flint(np.asarray(_eye(n, n)))
    for k in range(1, n):
        product = matrix * term
        term = product - to_flint(np.asarray(_eye(n, n) * (product.trace() / k), dtype=object))
    return from_flint(term) * (1 if n % 2 else -1)


def _eye(rows: int, columns: int) -> Array:
    y = np.full((rows, columns), arb(0), dtype=object)
    np.fill_diagonal(y, arb(1))
    return y


def _lstsq(a: Array, b: Array, l2: float = 0.0) -> Array:
    """By the smaller of the two normal equations, whose squares need twice the digits."""
    if a.size == 0 or b.size == 0:
        return np.full((a.shape[1], b.shape[1]), arb(0), dtype=object)
    back = conjugate(a.T)
    is_tall = a.shape[0] >= a.shape[1]
    before = flint.ctx.prec
    flint.ctx.prec = 2 * before + GUARD_BITS
    try:
        gram = (np.dot(back, a) if is_tall else np.dot(a, back)) + _eye(min(a.shape), min(a.shape)) * arb(l2)
        return _solve(gram, np.dot(back, b)) if is_tall else np.asarray(np.dot(back, _solve(gram, b)))
    finally:
        flint.ctx.prec = before


def _matrix_exp(a: Array) -> Array:
    return from_flint(to_flint(a).exp()) if a.size else a


def _cholesky(a: Array) -> Array:
    """The lower factor, row by row; only the lower triangle of `a` is read."""
    n = a.shape[0]
    y = np.full((n, n), arb(0), dtype=object)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - (np.dot(y[i, :j], conjugate(y[j, :j])) if j else 0)
            y[i, j] = rest / y[j, j] if j < i else real(rest).sqrt()
    return y


def conjugate(x: Array) -> Array:
    return np.asarray(
        np.frompyfunc(lambda entry: entry.conjugate() if isinstance(entry, acb) else entry, 1, 1)(x)
    )


def _qr(a: Array, signs: Array) -> tuple[Array, Array]:
    """The reduced factors by Gram-Schmidt; what is lost in orthogonality is covered by the balls.

    `signs` has one row and says which sign every diagonal entry of R has.
    """
    rows, n = a.shape
    rank = min(rows, n)
    q, r = np.full((rows, rank), arb(0), dtype=object), np.full((rank, n), arb(0), dtype=object)
    for j in range(n):
        rest = a[:, j]
        for i in range(min(j, rank)):
            # Of what is left, not of the column itself: the same number, and less cancellation in it.
            r[i, j] = np.dot(conjugate(q[:, i]), rest)
            rest = rest - q[:, i] * r[i, j]
        if j < rank:
            r[j, j] = real(np.dot(conjugate(rest), rest)).sqrt() * int(signs[0, j])
            q[:, j] = rest / r[j, j]
    return q, r


def _fft(x: Array, axes: tuple[int, ...]) -> Array:
    """Fourier transforms along one axis after the other."""
    y = np.asarray(x, dtype=object)
    for axis in axes:
        lines = np.moveaxis(y, axis, -1)
        flat = lines.reshape(-1, lines.shape[-1])
        found = np.empty(flat.shape, dtype=object)
        for place, line in enumerate(flat):
            found[place] = acb.dft(line.tolist())
        y = np.moveaxis(found.reshape(lines.shape), -1, axis)
    return y


KERNELS: dict[str, Callable[..., Any]] = {
    "solve": per_matrix(_solve),
    "inverse": per_matrix(_inverse),
    "det": per_matrix(_det),
    "log_abs_det": per_matrix(_log_abs_det),
    "adjugate": per_matrix(_adjugate),
    "matrix_exp": per_matrix(_matrix_exp),
    "lstsq": per_matrix(_lstsq),
    "pinv": per_matrix(lambda a: _lstsq(a, _eye(len(a), len(a)))),
    "cholesky": per_matrix(_cholesky),
    "qr": per_matrix(_qr),
    "matrix_sqrt": per_matrix(matrix_sqrt),
    "eigh": per_matrix(eigen.eigh),
    "eig": per_matrix(eigen.eig),
    "svd": per_matrix(eigen.svd),
    "fft": _fft,
}

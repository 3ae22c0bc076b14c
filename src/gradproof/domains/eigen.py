"""Proven eigenvalues and singular values of matrices of balls, with the vectors of distinct ones."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
from flint import acb, arb

from gradproof.domains.clusters import enclose_values
from gradproof.domains.eigen_places import nearest, values_near
from gradproof.domains.flint_matrix import GUARD_BITS, UNKNOWN, is_complex, real, to_flint, unknown
from gradproof.errors import NotSupported
from gradproof.ir.types import Array


def eigh(a: Array, anchors: Array) -> tuple[Array, Array]:
    """Values ascending, and unit vectors with the signs the anchors tell; only the lower triangle is read."""
    _refuse_complex(a)
    n = a.shape[0]
    below = np.tri(n, dtype=bool)
    values, directions = _eigen(np.where(below, a, a.T))
    vectors = np.empty((n, n), dtype=object)
    for k in range(n):
        vectors[:, k] = _unit(directions[:, k]) * _flip(directions[:, k], anchors[:, k])
    return values, vectors


def eig(a: Array, chosen: Array, places: Array) -> tuple[Array, Array]:
    """Values where the places say, and unit vectors whose chosen component is real and has its sign."""
    n = a.shape[0]
    if n == 0:
        return np.empty(0, object), a
    before = flint.ctx.prec
    flint.ctx.prec = before + GUARD_BITS
    try:
        values, directions = _any_eigen(to_flint(a, as_complex=True), n)
        order = nearest([complex(value.mid()) for value in values], values_near(places))
        vectors = np.empty((n, n), dtype=object)
        for k, place in enumerate(order):
            vectors[:, k] = _turned(directions[:, place], chosen[:, k], int(places[0, k]))
        found = np.empty(n, dtype=object)
        found[:] = [values[place] for place in order]
        return found, vectors
    finally:
        flint.ctx.prec = before


def _any_eigen(a: Any, n: int) -> tuple[list[Any], Array]:
    """Eigenvalues and a vector for each; those of values that cannot be told apart are unknown."""
    try:
        values, columns = a.eig(right=True)
        return values, np.array([[columns[i, k] for k in range(n)] for i in range(n)], dtype=object)
    except ValueError:
        pass
    try:
        return a.eig(multiple=True), unknown((n, n))
    except ValueError:
        return [acb(UNKNOWN)] * n, unknown((n, n))


def _turned(column: Array, chosen: Array, sign: int) -> Array:
    """The multiple of length 1 whose chosen component is a real number of this sign."""
    (row,) = np.flatnonzero(chosen)
    component = column[row]
    if not component.is_finite() or component.contains(0):
        return unknown(column.shape)
    y = np.empty(column.shape, dtype=object)
    y[:] = [entry / component for entry in column]
    y[row] = acb(1)
    squares = sum((entry.real * entry.real + entry.imag * entry.imag for entry in y), arb(0))
    return np.asarray(y * (sign / squares.sqrt()), dtype=object)


def svd(a: Array, anchors: Array) -> tuple[Array, Array, Array]:
    """Values descending, left and right vectors; from the eigenvalues of the smaller of a^T a and a a^T."""
    _refuse_complex(a)
    is_wide = a.shape[0] < a.shape[1]
    tall = a.T if is_wide else a
    rank = tall.shape[1]
    before = flint.ctx.prec
    flint.ctx.prec = 2 * before + GUARD_BITS  # the squares of small values need twice the digits
    try:
        squares, directions = _eigen(np.dot(tall.T, tall) if tall.size else unknown((rank, rank)))
        s, near, far = _root(squares[::-1]), np.empty((rank, rank), object), np.empty(tall.shape, object)
        for k in range(rank):
            near[:, k] = _unit(directions[:, rank - 1 - k])
            far[:, k] = np.dot(tall, near[:, k]) / s[k]
        u, v = (near, far) if is_wide else (far, near)
        flips = np.array([_flip(v[:, k], anchors[:, k]) for k in range(rank)], dtype=object)
        return s, u * flips, v * flips
    finally:
        flint.ctx.prec = before


def _refuse_complex(a: Array) -> None:
    if is_complex(a):
        raise NotSupported(
            "eigenvectors and singular vectors of complex matrices are known up to a phase only"
        )


def _eigen(a: Array) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix, ascending, and an eigenvector for each, of whatever length.

    All eigenvalues are real, so the real parts of complex enclosures enclose them. A column encloses a
    complex multiple of a real vector; divided by one of its components it is real. Vectors of eigenvalues
    that cannot be told apart are unknown.
    """
    n = a.shape[0]
    if n == 0:
        return np.empty(0, object), a
    before = flint.ctx.prec
    flint.ctx.prec = before + GUARD_BITS
    try:
        values, columns = to_flint(a, as_complex=True).eig(right=True)
        vectors = np.array([[columns[i, k] for k in range(n)] for i in range(n)], dtype=object)
    except ValueError:
        values, vectors = enclose_values(a), unknown((n, n))
    finally:
        flint.ctx.prec = before
    reals = np.empty(n, dtype=object)
    reals[:] = [real(value) for value in values]
    # By exact midpoints: float64 may not tell them apart.
    order = [k for _, k in sorted((value.mid(), k) for k, value in enumerate(reals.tolist()))]
    return reals[order], np.stack([_real_multiple(vectors[:, k]) for k in order], axis=1)


def _real_multiple(column: Array) -> Array:
    if not all(entry.is_finite() for entry in column):
        return unknown(column.shape)
    largest = max(column, key=lambda entry: float(abs(entry).mid()))
    y = np.empty(column.shape, dtype=object)
    y[:] = [real(entry / largest) for entry in column]
    return y


def _unit(column: Array) -> Array:
    return np.asarray(column / np.dot(column, column).sqrt(), dtype=object)


def _flip(column: Array, anchor: Array) -> Any:
    """1 or -1, whichever gives the anchored component its sign; unknown if that component may be zero."""
    component, sign = column[int(anchor[0])], int(anchor[1])
    if not component.is_finite() or component.contains(0):
        return UNKNOWN
    return arb(sign if component > 0 else -sign)


def _root(squares: Array) -> Array:
    """Square roots of numbers that are not negative, though their balls may reach below zero."""
    y = np.empty(squares.shape, dtype=object)
    for k, square in enumerate(squares):
        if not square.is_finite() or square > 0:
            y[k] = square.sqrt() if square.is_finite() else UNKNOWN
        else:
            half = square.abs_upper().sqrt().abs_upper() / 2
            y[k] = arb(half.mid(), half.abs_upper())
    return y

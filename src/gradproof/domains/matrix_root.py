"""Proven principal square roots of matrices of balls, by Newton's method on intervals."""

from __future__ import annotations

import warnings
from typing import Any

import flint
import numpy as np
import scipy
from flint import acb, arb

from gradproof.domains.flint_matrix import from_flint, is_complex, to_flint, unknown
from gradproof.ir.types import Array

MOST_STEPS = 20  # digits double with every step, from float64's to thousands of bits
WIDENINGS = 6  # how often a box that does not contain its image is widened before giving up


def matrix_sqrt(a: Array) -> Array:
    """The root with eigenvalues in the right half-plane, or nothing known where that cannot be shown."""
    if a.size == 0:
        return a
    start = _approximate(a)
    return unknown(a.shape) if start is None else prove_root(a, start)


def prove_root(a: Array, start: Array) -> Array:
    """Balls for the principal root of every matrix in `a`, if it lies near the exact matrix `start`.

    With f(x) = x^2 - a, the operator start - f'(box)^-1 f(start) maps a box around start into itself only if
    there is one root in the box, and then its image contains that root.
    """
    residual = np.dot(start, start) - a
    correction = _newton_step(start, residual)
    for attempt in range(WIDENINGS):
        box = start + _ball_of(correction, 2.0 ** (attempt + 1))
        correction = _newton_step(box, residual)
        image = np.asarray(start - correction, dtype=object)
        if _contains(box, image):
            return image if _in_right_half_plane(image) else unknown(a.shape)
    return unknown(a.shape)


def _approximate(a: Array) -> Array | None:
    """Exact numbers near a root: SciPy's, then Newton's steps on midpoints. Nothing is proven of them."""
    mids = _mid(a)
    values = np.array([[complex(entry) for entry in row] for row in mids])
    if not np.isfinite(values).all():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a matrix has no root is found out below
        rough = scipy.linalg.sqrtm(values)
    if not np.isfinite(rough).all():
        return None
    if not is_complex(a):
        rough = rough.real
    x = np.asarray(np.frompyfunc(acb if is_complex(a) else arb, 1, 1)(rough), dtype=object)
    for _ in range(MOST_STEPS):
        step = _mid(_newton_step(x, np.dot(x, x) - mids))
        if not all(entry.is_finite() for entry in step.reshape(-1)):
            return None
        x = _mid(x - step)
        if _largest(step) <= _largest(x) * arb(2) ** (-flint.ctx.prec // 2):
            break
    return x


def _newton_step(x: Array, residual: Array) -> Array:
    """The h with x h + h x = residual, for every x of a box."""
    n = len(x)
    eye = np.eye(n, dtype=int)
    system = np.einsum("ij,kl->ikjl", x, eye) + np.einsum("ij,lk->ikjl", eye, x)
    mixed = is_complex(x, residual)
    try:
        right = to_flint(residual.reshape(n * n, 1), mixed)
        return from_flint(to_flint(system.reshape(n * n, n * n), mixed).solve(right)).reshape(n, n)
    except ZeroDivisionError:
        return unknown((n, n))


def _ball_of(correction: Array, factor: float) -> Array:
    """Balls around zero that hold the correction, enlarged; never of radius zero."""
    least = _largest(correction) * factor + arb(2) ** -(2 * flint.ctx.prec)
    rad = arb(0, least.abs_upper()) if least.is_finite() else arb("nan")
    return np.full(correction.shape, acb(rad, rad) if is_complex(correction) else rad, dtype=object)


def _contains(box: Array, image: Array) -> bool:
    return all(b.contains(i) and i.is_finite() for b, i in zip(box.reshape(-1), image.reshape(-1)))


def _in_right_half_plane(x: Array) -> bool:
    """By Lyapunov: x has this property if x^H p + p x = 2 has a positive definite solution p."""
    n = len(x)
    eye = np.eye(n, dtype=int)
    back = x.T if not is_complex(x) else np.frompyfunc(lambda entry: acb(entry).conjugate(), 1, 1)(x.T)
    system = np.einsum("ij,kl->ikjl", back, eye) + np.einsum("ij,lk->ikjl", eye, x)
    right = to_flint((2 * eye).astype(object).reshape(n * n, 1), is_complex(x))
    try:
        p = from_flint(to_flint(system.reshape(n * n, n * n), is_complex(x)).solve(right)).reshape(n, n)
    except ZeroDivisionError:
        return False
    return all(_leading_minor(p, k) > 0 for k in range(1, n + 1))


def _leading_minor(p: Array, k: int) -> Any:
    minor = to_flint(p[:k, :k]).det()
    return minor.real if isinstance(minor, acb) else minor


def _largest(x: Array) -> Any:
    sizes = [abs(entry).abs_upper() for entry in x.reshape(-1)]
    return max(sizes) if all(size.is_finite() for size in sizes) else arb("nan")


def _mid(x: Array) -> Array:
    return np.asarray(np.frompyfunc(lambda entry: entry.mid(), 1, 1)(x), dtype=object)

"""Matrix functions in floating point, as LAPACK computes them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from gradproof.domains.eigen_places import nearest, values_near
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array


def _widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """LAPACK has no 16-bit types: they are computed in float32 and rounded once."""

    def kernel(*xs: Any, **params: Any) -> Any:
        arrays = [np.asarray(x) for x in xs]
        narrow = next((x.dtype for x in arrays if x.dtype.itemsize == 2 and x.dtype.kind not in "biu"), None)
        if narrow is None:
            return _attempt(function, arrays, params)
        wide = [x if x.dtype.kind in "biu" else x.astype(np.float32) for x in arrays]
        y = _attempt(function, wide, params)
        return (
            tuple(part.astype(narrow) for part in y) if isinstance(y, tuple) else np.asarray(y).astype(narrow)
        )

    return kernel


def _attempt(function: Callable[..., Any], arrays: list[Array], params: dict[str, Any]) -> Any:
    """Where LAPACK gives up on a matrix (it is singular, say), the result for that matrix is not a number."""
    try:
        return function(*arrays, **params)
    except np.linalg.LinAlgError:
        lead = joint_shape(*(x.shape[:-2] for x in arrays))
        if not lead:
            y = function(*map(_harmless, arrays), **params)  # only to learn the shapes
            return tuple(part * np.nan for part in y) if isinstance(y, tuple) else y * np.nan
    spread = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in arrays]
    results = [_attempt(function, [x[place] for x in spread], params) for place in np.ndindex(*lead)]
    if not isinstance(results[0], tuple):
        return np.stack(results).reshape(*lead, *np.shape(results[0]))
    return tuple(np.stack(parts).reshape(*lead, *np.shape(parts[0])) for parts in zip(*results))


def _harmless(x: Array) -> Array:
    """A matrix of the same shape that every function accepts."""
    return x if x.dtype.kind in "biu" else np.eye(*x.shape, dtype=x.dtype)


def _adjugate(a: Array) -> Array:
    """From the singular values, each replaced by the product of the others; exact also where one is zero."""
    u, s, v = np.linalg.svd(a)
    others = np.where(np.eye(s.shape[-1], dtype=bool), s.dtype.type(1), s[..., None, :])
    sign = np.linalg.det(u) * np.linalg.det(v)
    adjoint = [np.conj(np.swapaxes(x, -1, -2)) for x in (v, u)]
    return np.asarray(
        sign[..., None, None] * (adjoint[0] * np.prod(others, axis=-1)[..., None, :]) @ adjoint[1]
    )


def _qr(a: Array, signs: Array) -> tuple[Array, Array]:
    q, r = np.linalg.qr(a)
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    with np.errstate(all="ignore"):
        flip = np.where(diagonal == 0, 1, signs[..., 0, :] * np.abs(diagonal) / diagonal).astype(a.dtype)
    return q * np.conj(flip)[..., None, :], r * flip[..., None]


def _lstsq(a: Array, b: Array, l2: float = 0.0) -> Array:
    """By the pseudo-inverse of `a` on top of a multiple of the identity, which is the penalty on x."""
    if not l2:
        return np.asarray(np.linalg.pinv(a) @ b)
    n = a.shape[-1]
    below = np.broadcast_to(np.sqrt(a.dtype.type(l2)) * np.eye(n, dtype=a.dtype), (*a.shape[:-2], n, n))
    return np.asarray(np.linalg.pinv(np.concatenate([a, below], axis=-2))[..., : a.shape[-2]] @ b)


def _of_each(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of one matrix for stacks of them; a real matrix has a real result."""

    def stacked(a: Array) -> Array:
        flat = [function(one) for one in a.reshape(-1, *a.shape[-2:])]
        y = np.reshape(flat, a.shape) if flat else np.zeros(a.shape)
        return np.asarray(y if np.iscomplexobj(a) else np.real(y), a.dtype)

    return stacked


TAYLOR_TERMS = 14  # for a matrix of norm 1/4 the next one is below a thousandth of float64's unit


def _expm(a: Array) -> Array:
    """Scaled to norm 1/4, summed by Taylor, squared back; SciPy's own has errors of hundreds of ulp."""
    norm = float(np.linalg.norm(a, 1)) if a.size else 0.0
    if not np.isfinite(norm):
        return a * np.nan
    squarings = max(0, int(np.ceil(np.log2(norm))) + 2) if norm else 0
    scaled = a / a.dtype.type(2.0**squarings)
    y = term = np.eye(len(a), dtype=a.dtype)
    for k in range(1, TAYLOR_TERMS):
        term = term @ scaled / a.dtype.type(k)
        y = y + term
    for _ in range(squarings):
        y = y @ y
    return np.asarray(y)


def _sqrtm(a: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a matrix without a root has NaN for one
        return np.asarray(scipy.linalg.sqrtm(a))


def _eigh(a: Array, anchors: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(a)
    return values, vectors * _flips(vectors, anchors)


def _eig(a: Array, chosen: Array, places: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eig(a.astype(np.result_type(a, np.complex64)))
    for place in np.ndindex(*values.shape[:-1]):
        order = nearest(values[place], values_near(places[place]))
        values[place], vectors[place] = values[place][order], vectors[place][:, order]
    component = np.sum(np.where(chosen, vectors, 0), axis=-2, keepdims=True)
    turn = places[..., :1, :] * np.conj(component) / np.abs(component)
    return values, (vectors * turn).astype(vectors.dtype)


def _svd(a: Array, anchors: Array) -> tuple[Array, Array, Array]:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    v = np.swapaxes(vh, -1, -2)
    flips = _flips(v, anchors)
    return s, u * flips, v * flips


def _flips(vectors: Array, anchors: Array) -> Array:
    """The signs that give every vector's anchored component the sign it shall have."""
    components = np.take_along_axis(vectors, anchors[..., :1, :], axis=-2)
    return np.where((components < 0) == (anchors[..., 1:, :] < 0), 1, -1).astype(vectors.dtype)


def _fft(x: Any, axes: tuple[int, ...]) -> Any:
    x = np.asarray(x)
    return np.fft.fftn(x.astype(np.float32) if x.dtype.itemsize == 2 else x, axes=axes)


KERNELS: dict[str, Callable[..., Any]] = {
    "solve": _widened(np.linalg.solve),
    "inverse": _widened(np.linalg.inv),
    "det": _widened(np.linalg.det),
    "log_abs_det": _widened(lambda a: np.linalg.slogdet(a)[1]),
    "adjugate": _widened(_adjugate),
    "cholesky": _widened(np.linalg.cholesky),
    "qr": _widened(_qr),
    "lstsq": _widened(_lstsq),
    "pinv": _widened(np.linalg.pinv),
    "matrix_exp": _widened(_of_each(_expm)),
    "matrix_sqrt": _widened(_of_each(_sqrtm)),
    "eigh": _widened(_eigh),
    "eig": _widened(_eig),
    "svd": _widened(_svd),
    "fft": _fft,
}

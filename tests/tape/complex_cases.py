"""Functions of complex numbers: the cases of real numbers at random complex points, and those that need their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import CASES as REAL_CASES

RNG = np.random.default_rng(8)


def _draw(*shape: int) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


V, W, M, N, T = _draw(4), _draw(4), _draw(2, 3), _draw(2, 3), _draw(2, 3, 2)
S = _draw(3, 3) + 2 * np.eye(3)


def _changed(function: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    """A function that changes a copy of its argument in place."""

    def changed(x: Any) -> Any:
        y = x * 1.0
        function(y, x)
        return y

    return changed


OWN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "add.outer": (np.add.outer, (V, W)),
    "subtract.outer": (np.subtract.outer, (V, W)),
    "divide.outer": (np.divide.outer, (V, W)),
    "subtract.at": (_changed(lambda y, x: np.subtract.at(y, [0, 2, 2, 1], x)), (V,)),
    "atleast_1d": (np.atleast_1d, (V,)),
    "atleast_3d": (np.atleast_3d, (M,)),
    "broadcast_arrays": (lambda a, b: np.broadcast_arrays(a, b)[1] * a, (M, _draw(3))),
    "diagflat": (np.diagflat, (V,)),
    "diagonal": (np.diagonal, (S,)),
    "dsplit": (lambda x: np.dsplit(x, 2)[1], (T,)),
    "hsplit": (lambda x: np.hsplit(x, 3)[1], (M,)),
    "vsplit": (lambda x: np.vsplit(x, 2)[1], (M,)),
    "fftn": (np.fft.fftn, (M,)),
    "ifft2": (np.fft.ifft2, (M,)),
    "ifftn": (np.fft.ifftn, (M,)),
    "ifftshift": (np.fft.ifftshift, (V,)),
    "fliplr": (np.fliplr, (M,)),
    "flipud": (np.flipud, (M,)),
    "linalg.matmul": (np.linalg.matmul, (M, S)),
    "linalg.cross": (np.linalg.cross, (M, N)),
    "linalg.outer": (np.linalg.outer, (V, W)),
    "linalg.tensordot": (lambda a, b: np.linalg.tensordot(a, b, axes=1), (M, S)),
    "linalg.trace": (np.linalg.trace, (S,)),
    "linalg.vecdot": (np.linalg.vecdot, (M, N)),
    "linalg.matrix_transpose": (np.linalg.matrix_transpose, (M,)),
    "matrix_transpose": (np.matrix_transpose, (M,)),
    "vecdot": (np.vecdot, (M, N)),
    "resize": (lambda x: np.resize(x, (3, 3)), (M,)),
    "rollaxis": (lambda x: np.rollaxis(x, 2), (T,)),
    "put": (_changed(lambda y, x: np.put(y, [0, 2], x[:2])), (V,)),
    "put_along_axis": (_changed(lambda y, x: np.put_along_axis(y, np.array([[1], [0]]), x[:, :1], 1)), (M,)),
    "putmask": (_changed(lambda y, x: np.putmask(y, [True, False, True, False], x[::-1])), (V,)),
    "copyto": (_changed(lambda y, x: np.copyto(y, x[::-1])), (V,)),
    "fill_diagonal": (_changed(lambda y, x: np.fill_diagonal(y, 2.0)), (S,)),
    "upper cholesky": (
        lambda a: np.linalg.cholesky(a @ np.conj(a.T) + np.eye(3), upper=True),
        (S,),
    ),
    "astype": (lambda z: z.astype(np.complex128) * z, (V,)),
    "equal": (lambda z: np.where(z == 0, 1.0, z * z), (V,)),
    "not_equal": (lambda z: np.where(z != 1.0, z * z, 1.0), (V,)),
    "negative": (np.negative, (V,)),
    "square": (np.square, (V,)),
    "compress": (lambda z: np.compress([True, False, True, True], z), (V,)),
    "extract": (lambda z: np.extract([True, False, True, True], z), (V,)),
    "select": (lambda z: np.select([[True, False, True, False]], [z * z], z), (V,)),
    "truth": (lambda z: np.where(z, z * z, 1.0), (V,)),
    "isnan": (lambda z: np.where(np.isnan(z), 0.0, z * z), (V,)),
    "isfinite": (lambda z: np.where(np.isfinite(z), z * z, 0.0), (V,)),
    "product": (np.prod, (V,)),
    "power 0": (lambda z: z**0 + z, (V,)),
    "sign": (np.sign, (V,)),
}


def _complexified(x: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return x
    return x + 1j * RNG.uniform(0.2, 0.6, x.shape) * RNG.choice([-1, 1], x.shape)


def complex_cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Those that NumPy takes complex numbers for, and answers with numbers."""
    found = dict(OWN)
    for name, function, points in REAL_CASES:
        moved = tuple(map(_complexified, points))
        try:
            y = np.asarray(function(*map(np.array, moved)))
        except (TypeError, ValueError, NotImplementedError, np.exceptions.ComplexWarning):
            continue
        if y.dtype.kind in "fc":
            found[f"complex {name}"] = (function, moved)
    return found

"""Floating point as NumPy does it, rounded after every op; no rounding is tracked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gradproof.domains import matrix_ieee
from gradproof.domains.entrywise_ieee import SPELLINGS
from gradproof.ir import types
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array


class Ieee:
    """One floating-point dtype, or, without one, the dtype each node of the program has."""

    def __init__(self, dtype: str | None = None) -> None:
        self.name = dtype or "floating point"
        self.dtype = None if dtype is None else types.numpy_dtype(dtype)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in matrix_ieee.KERNELS:
            kernel = matrix_ieee.KERNELS[name]
        elif name in SPELLINGS:
            kernel = _rounded_once(SPELLINGS[name])
        else:
            raise AttributeError(name)
        setattr(self, name, kernel)
        return kernel

    def pi(self) -> Any:
        return np.asarray(np.pi, self.dtype or np.float64)

    def complex(self, real: Any, imag: Any) -> Array:
        """complex64 from floats of up to 32 bits, else complex128."""
        wide: Any = np.complex64 if max(real.dtype.itemsize, imag.dtype.itemsize) <= 4 else np.complex128
        y = np.empty(joint_shape(real.shape, imag.shape), wide)
        y.real, y.imag = real, imag
        return y

    def enter(self, array: Array) -> Array:
        array = np.asarray(array)
        if np.iscomplexobj(array):
            return array
        if self.dtype is not None:
            return array.astype(self.dtype, copy=False)
        return array.astype(np.float64) if array.dtype.kind in "biu" else array

    def settle(self, y: Any, dtype: str) -> Any:
        if types.is_complex(dtype):
            return np.asarray(y)
        return np.asarray(y, self.dtype or types.numpy_dtype(dtype))

    def leave(self, x: Any) -> tuple[Array, Array]:
        wide = np.complex128 if np.iscomplexobj(x) else np.float64
        mid = np.asarray(x, wide)
        return mid, np.zeros(mid.shape)

    def lift(self, function: Callable[..., Array], *xs: Any) -> Array:
        return function(*(np.asarray(x) for x in xs))

    def active(self) -> AbstractContextManager[Any]:
        return np.errstate(all="ignore")

    def sum(self, x: Any, axes: tuple[int, ...]) -> Any:
        return np.sum(x, axis=axes)

    def running_sum(self, x: Any, axis: int) -> Any:
        return np.cumsum(x, axis=axis)

    def matmul(self, a: Any, b: Any) -> Any:
        return np.matmul(a, b)

    def scatter_add(self, x: Any, indices: Any, size: int) -> Any:
        """`x[k]` summed into place `indices[k]` of a new first axis of length `size`."""
        y = np.zeros((size, *np.shape(x)[np.ndim(indices) :]), np.asarray(x).dtype)
        np.add.at(y, indices, x)
        return y


def _rounded_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, evaluated in float32 and rounded once where the arguments have 16 bits, as frameworks do."""

    def kernel(*xs: Any, **params: Any) -> Any:
        narrow = next((x.dtype for x in xs if getattr(x, "dtype", _WIDE).itemsize == 2), None)
        if narrow is None or narrow.kind in "iu":
            return function(*xs, **params)
        wide = [np.asarray(x, np.float32) for x in xs]
        return np.asarray(function(*wide, **params)).astype(narrow)

    return kernel


_WIDE = np.dtype(np.float64)

"""Fingerprints: numbers as residues modulo a large prime, to prove two computations give the same number.

Balls can never prove equality of numbers that are not exact in binary. Fingerprints can: rational arithmetic
is done exactly modulo the prime, any other function of a fingerprint is a hash of it. Equal expressions,
however their terms are ordered, have equal fingerprints; different numbers share one with a chance of 2**-61.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np

from gradproof.domains.ball import ENTRYWISE
from gradproof.errors import NotSupported
from gradproof.ir.types import Array

PRIME = 2**61 - 1

MOST_FACTORS = 64  # powers up to this one are products
_COMPLEX = frozenset({"complex", "real", "imag"})  # residues stand for reals
_unknowns = count()


class Residue:
    """A real number, known only modulo the prime."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value % PRIME

    def __add__(self, other: Any) -> Residue:
        return Residue(self.value + residue(other).value)

    def __sub__(self, other: Any) -> Residue:
        return Residue(self.value - residue(other).value)

    def __mul__(self, other: Any) -> Residue:
        return Residue(self.value * residue(other).value)

    def __truediv__(self, other: Any) -> Residue:
        divisor = residue(other).value
        return self * pow(divisor, -1, PRIME) if divisor else _unknown()

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Residue:
        return residue(other) - self

    def __rtruediv__(self, other: Any) -> Residue:
        return residue(other) / self

    def __neg__(self) -> Residue:
        return Residue(-self.value)


def residue(x: Any) -> Residue:
    """The fingerprint of an exact number; what is no number equals nothing."""
    if isinstance(x, Residue):
        return x
    if isinstance(x, (bool, int, np.integer, np.bool_)):
        return Residue(int(x))
    if not math.isfinite(x):
        return _unknown()
    numerator, denominator = float(x).as_integer_ratio()
    return Residue(numerator * pow(denominator, -1, PRIME))


def _unknown() -> Residue:
    return _hashed("unknown", next(_unknowns))


def _hashed(*parts: Any) -> Residue:
    return Residue(int.from_bytes(blake2b(repr(parts).encode(), digest_size=16).digest()))


def _power(base: Any, exponent: Any) -> Residue:
    """A product for small whole exponents, so that `x**2` is `x * x`; else one more function."""
    times = residue(exponent).value
    if times <= MOST_FACTORS:
        return Residue(pow(residue(base).value, times, PRIME))
    return _hashed("power", residue(base).value, times)


def _entrywise(function: Callable[..., Any], *xs: Any) -> Array:
    return np.asarray(np.frompyfunc(function, len(xs), 1)(*xs), dtype=object)


class Fingerprint:
    """The arithmetic of residues. It knows no order: what leaves it is 0 for zero and 1 for anything else."""

    name = "fingerprints"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ENTRYWISE or name in _COMPLEX:
            raise AttributeError(name)
        return partial(self._image, name)

    def _image(self, name: str, *xs: Any, **params: Any) -> Array:
        def image(*entries: Any) -> Residue:
            return _hashed(name, sorted(params.items()), [residue(entry).value for entry in entries])

        return _entrywise(image, *xs)

    def pi(self) -> Array:
        return np.asarray(_hashed("pi"), dtype=object)

    def enter(self, array: Array) -> Array:
        if np.iscomplexobj(array):
            raise NotSupported("fingerprints stand for real numbers only")
        return _entrywise(residue, np.asarray(array).astype(object))

    def leave(self, x: Any) -> tuple[Array, Array]:
        mid = np.asarray(_entrywise(lambda entry: float(residue(entry).value != 0), x), np.float64)
        return mid, np.zeros(mid.shape)

    def lift(self, function: Callable[..., Array], *xs: Any) -> Array:
        return function(*(np.asarray(x, dtype=object) for x in xs))

    def settle(self, y: Any, dtype: str) -> Array:
        del dtype  # exact arithmetic knows no dtypes
        return np.asarray(y, dtype=object)

    def active(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def conj(self, x: Any) -> Any:
        return x

    def add(self, a: Any, b: Any) -> Array:
        return _entrywise(lambda u, v: residue(u) + v, a, b)

    def sub(self, a: Any, b: Any) -> Array:
        return _entrywise(lambda u, v: residue(u) - v, a, b)

    def mul(self, a: Any, b: Any) -> Array:
        return _entrywise(lambda u, v: residue(u) * v, a, b)

    def div(self, a: Any, b: Any) -> Array:
        return _entrywise(lambda u, v: residue(u) / v, a, b)

    def power(self, a: Any, b: Any, less: int = 0) -> Array:
        return _entrywise(_power, a, _entrywise(lambda exponent: residue(exponent) - less, b))

    def neg(self, a: Any) -> Array:
        return _entrywise(lambda u: -residue(u), a)

    def sum(self, x: Array, axes: tuple[int, ...]) -> Array:
        zero: Any = Residue(0)
        return np.asarray(np.sum(x, axis=axes, initial=zero), dtype=object) if axes else x

    def running_sum(self, x: Array, axis: int) -> Array:
        return np.asarray(np.cumsum(x, axis=axis), dtype=object) if x.size else x

    def scatter_add(self, x: Array, indices: Any, size: int) -> Array:
        y = np.full((size, *np.shape(x)[np.ndim(indices) :]), Residue(0), dtype=object)
        np.add.at(y, indices, x)
        return y

    def matmul(self, a: Array, b: Array) -> Array:
        if a.shape[-1] == 0:
            raise NotSupported("fingerprints of empty sums of products are not needed")
        return np.asarray(np.matmul(a, b), dtype=object)

"""Arbitrary-precision balls: NumPy object arrays of python-flint's `arb`, or `acb` for complex numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import flint
import numpy as np
from flint import acb, arb

from gradproof.clock import tick
from gradproof.domains import ball_special, matrix
from gradproof.domains.flint_matrix import UNKNOWN, from_flint, is_complex, to_flint
from gradproof.domains.pieces import PIECE, in_pieces
from gradproof.errors import NotSupported
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array

ZERO = arb(0)
UNIT_BALL = arb(0, 1)
UNIT_SQUARE = acb(UNIT_BALL, UNIT_BALL)


class BallDomain:
    """Balls of a given precision. Everything entrywise is a call of the library on each entry."""

    def __init__(self, precision_bits: int = 128) -> None:
        self.precision_bits = precision_bits
        self.name = f"balls of {precision_bits} bits"

    def pi(self) -> Array:
        return np.asarray(arb.pi(), dtype=object)

    def settle(self, y: Any, dtype: str) -> Array:
        del dtype  # exact arithmetic knows no dtypes
        return np.asarray(y, dtype=object)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in matrix.KERNELS:
            kernel = matrix.KERNELS[name]
        elif name in ENTRYWISE:
            kernel = _entrywise(ENTRYWISE[name])
        else:
            raise AttributeError(name)
        setattr(self, name, kernel)
        return kernel

    def enter(self, array: Array) -> Array:
        array = np.asarray(array)
        if array.dtype == object:
            return array
        if np.iscomplexobj(array):
            return np.asarray(_entrywise(_exact_complex)(array.astype(np.complex128)))
        if array.dtype.kind in "iub":
            return np.asarray(_entrywise(arb)(array.astype(object) + 0))
        return np.asarray(_entrywise(_exact_real)(array.astype(np.float64)))

    def leave(self, x: Array) -> tuple[Array, Array]:
        x = np.asarray(x)
        if is_complex(x):
            return _leave_complex(x)
        entries, sides = x.reshape(-1).tolist(), np.empty((2, x.size))
        for start in range(0, x.size, PIECE):
            tick()
            part = slice(start, start + PIECE)
            sides[:, part] = np.transpose([float_ball(entry) for entry in entries[part]])
        mid, rad = sides.reshape(2, *x.shape)
        return mid, rad

    def lift(self, function: Callable[..., Array], *xs: Any) -> Array:
        return function(*(np.asarray(x, dtype=object) for x in xs))

    @contextmanager
    def _precision(self) -> Iterator[None]:
        before = flint.ctx.prec
        flint.ctx.prec = self.precision_bits
        try:
            with np.errstate(all="ignore"):  # the library raises floating-point flags of its own
                yield
        finally:
            flint.ctx.prec = before

    def active(self) -> AbstractContextManager[Any]:
        return self._precision()

    def add(self, a: Any, b: Any) -> Array:
        return in_pieces(operator.add, a, b)

    def sub(self, a: Any, b: Any) -> Array:
        return in_pieces(operator.sub, a, b)

    def mul(self, a: Any, b: Any) -> Array:
        y = in_pieces(operator.mul, a, b)
        return zero_absorbs(y, a, b)

    def div(self, a: Any, b: Any) -> Array:
        return in_pieces(operator.truediv, a, b)

    def neg(self, a: Any) -> Array:
        return in_pieces(operator.neg, a)

    def sum(self, x: Array, axes: tuple[int, ...]) -> Array:
        if x.size == 0 or not axes:
            shape = tuple(n for axis, n in enumerate(x.shape) if axis not in axes)
            return x if not axes else np.full(shape, ZERO, dtype=object)
        return np.asarray(np.sum(x, axis=axes), dtype=object)

    def running_sum(self, x: Array, axis: int) -> Array:
        return np.asarray(np.cumsum(x, axis=axis), dtype=object) if x.size else x

    def scatter_add(self, x: Array, indices: Any, size: int) -> Array:
        y = np.full((size, *np.shape(x)[np.ndim(indices) :]), ZERO, dtype=object)
        np.add.at(y, indices, x)
        return y

    def matmul(self, a: Array, b: Array) -> Array:
        a, b = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
        batch = joint_shape(a.shape[:-2], b.shape[:-2])
        y = np.full((*batch, a.shape[-2], b.shape[-1]), ZERO, dtype=object)
        if a.shape[-1] == 0 or y.size == 0:
            return y
        a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
        b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
        for place in np.ndindex(*batch):
            y[place] = _matrix_product(a[place], b[place])
        return y


def _entrywise(function: Callable[..., Any]) -> Callable[..., Any]:
    ufunc: Any = None

    def kernel(*xs: Any, **params: Any) -> Array:
        nonlocal ufunc
        if params:
            return in_pieces(np.frompyfunc(lambda *entries: function(*entries, **params), len(xs), 1), *xs)
        if ufunc is None:
            ufunc = np.frompyfunc(function, len(xs), 1)
        return in_pieces(ufunc, *xs)

    return kernel


def zero_absorbs(y: Array, a: Any, b: Any) -> Array:
    """Exactly zero times anything is zero: a branch that is not taken contributes nothing, whatever its slope."""
    if _all_finite(y):
        return y
    is_zero = np.frompyfunc(lambda entry: entry == 0, 1, 1)
    zero = np.asarray(is_zero(a), bool) | np.asarray(is_zero(b), bool)
    return np.where(np.broadcast_to(zero, y.shape), ZERO, y)


def _exact_real(value: float) -> arb:
    return arb(value) if math.isfinite(value) else arb("nan")


def _exact_complex(value: complex) -> acb:
    return acb(_exact_real(value.real), _exact_real(value.imag))


def float_ball(entry: Any) -> tuple[float, float]:
    """Midpoint and radius in float64, the rounding of the midpoint included in the radius."""
    if isinstance(entry, acb):
        raise NotSupported("float64 balls hold real numbers only")
    if not entry.is_finite():
        return 0.0, math.inf
    mid = float(entry.mid())
    if not math.isfinite(mid):
        return 0.0, math.inf
    # `entry - mid` is exact up to its own ball; its upper bound, rounded up once more, covers everything.
    rad = float((entry - mid).abs_upper())
    return mid, 0.0 if rad == 0.0 and entry == mid else math.nextafter(rad, math.inf)


def _leave_complex(x: Array) -> tuple[Array, Array]:
    mid = np.empty(x.shape, np.complex128)
    rad = np.empty(x.shape)
    for place, entry in enumerate(x.reshape(-1)):
        entry = acb(entry)
        (real, real_rad), (imag, imag_rad) = float_ball(entry.real), float_ball(entry.imag)
        mid.reshape(-1)[place] = complex(real, imag)
        rad.reshape(-1)[place] = math.nextafter(math.hypot(real_rad, imag_rad), math.inf)
    return mid, rad


def _matrix_product(a: Array, b: Array) -> Array:
    y = from_flint(to_flint(a) * to_flint(b))
    if _all_finite(y):
        return y
    # An unknown entry spoils exactly those sums in which it meets something that is not zero.
    unknown_a, unknown_b = _mask(_is_unknown, a), _mask(_is_unknown, b)
    y = from_flint(to_flint(np.where(unknown_a, ZERO, a)) * to_flint(np.where(unknown_b, ZERO, b)))
    spoilt = (unknown_a @ _mask(_may_differ_from_zero, b)) | (_mask(_may_differ_from_zero, a) @ unknown_b)
    return np.where(spoilt, UNKNOWN, y)


_is_finite = operator.methodcaller("is_finite")


def _all_finite(x: Array) -> bool:
    return all(map(_is_finite, x.reshape(-1).tolist()))


def _is_unknown(entry: Any) -> bool:
    return not entry.is_finite()


def _may_differ_from_zero(entry: Any) -> bool:
    return not entry == 0  # noqa: SIM201 - of balls, `!=` says that they surely differ


def _mask(question: Callable[[Any], bool], x: Array) -> Array:
    return np.asarray(np.frompyfunc(question, 1, 1)(x), bool)


ENTRYWISE: dict[str, Callable[..., Any]] = {
    **ball_special.KERNELS,
    "about": lambda x, radius: x + radius * (UNIT_BALL if isinstance(x, arb) else UNIT_SQUARE),
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "sqrt": lambda x: x.sqrt(),
    "rsqrt": lambda x: x.rsqrt(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "atan": lambda x: x.atan(),
    "atan2": lambda y, x: arb.atan2(y, x),
    "sinh": lambda x: x.sinh(),
    "cosh": lambda x: x.cosh(),
    "tanh": lambda x: x.tanh(),
    "asinh": lambda x: x.asinh(),
    "acosh": lambda x: x.acosh(),
    "conj": lambda x: x.conjugate() if isinstance(x, acb) else x,
    "real": lambda x: x.real if isinstance(x, acb) else x,
    "imag": lambda x: x.imag if isinstance(x, acb) else ZERO,
    "complex": lambda re, im: acb(re, im),
}

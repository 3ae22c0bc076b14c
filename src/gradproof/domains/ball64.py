"""Float64 balls: a midpoint and a radius per entry in plain NumPy arrays, rigorous and vectorised."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gradproof.domains.constants64 import constant_ball
from gradproof.domains.fused64 import (
    SMALL,
    Kernel,
    exact_sum,
    fused_product,
    fused_quotient,
    fused_sum,
    in_blocks,
    widened,
)
from gradproof.domains.rounding64 import TINY, UNIT, up
from gradproof.ir.types import Array


class Ball64:
    """The reals within `rad` of `mid`, entry by entry.

    `rad` None means exact; an infinite radius means no information.
    """

    __slots__ = ("mid", "rad")
    __array_ufunc__ = None  # NumPy arrays leave the operators to us

    def __init__(self, mid: Array, rad: Array | None = None) -> None:
        self.mid = mid
        self.rad = rad

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mid.shape)

    @property
    def ndim(self) -> int:
        return self.mid.ndim

    @property
    def size(self) -> int:
        return self.mid.size

    def radius(self) -> Array:
        return np.zeros(self.mid.shape) if self.rad is None else self.rad

    def magnitude(self) -> Array:
        """An upper bound of |x|."""
        size = np.abs(self.mid)
        return size if self.rad is None else up(size + self.rad)

    def __neg__(self) -> Ball64:
        return Ball64(-self.mid, self.rad)

    def __add__(self, other: Any) -> Ball64:
        return add(self, as_ball(other))

    def __sub__(self, other: Any) -> Ball64:
        return sub(self, as_ball(other))

    def __mul__(self, other: Any) -> Ball64:
        return mul(self, as_ball(other))

    def __truediv__(self, other: Any) -> Ball64:
        return div(self, as_ball(other))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Ball64:
        return sub(as_ball(other), self)

    def __rtruediv__(self, other: Any) -> Ball64:
        return div(as_ball(other), self)

    def __repr__(self) -> str:
        return f"Ball64({self.mid!r} ± {self.radius()!r})"


def as_ball(x: Any) -> Ball64:
    return x if isinstance(x, Ball64) else Ball64(np.asarray(x, np.float64))


def all_finite(x: Array) -> bool:
    if x.dtype.kind != "f":
        return bool(np.isfinite(x).all())
    return bool(x.max(initial=0.0) < np.inf and x.min(initial=0.0) > -np.inf)  # NaN fails both


def known(mid: Array, rad: Array) -> Ball64:
    """A ball, with every entry that is not finite turned into 'no information'."""
    if not (all_finite(mid) and all_finite(rad)):
        bad = ~(np.isfinite(mid) & np.isfinite(rad))
        mid, rad = np.where(bad, 0.0, mid), np.where(bad, np.inf, rad)
    return Ball64(mid, rad)


def add(a: Ball64, b: Ball64) -> Ball64:
    total = exact_sum(a.mid, a.rad, b.mid, b.rad)
    return _binary(_ADD, _careful_add, a, b) if total is None else Ball64(total)


def sub(a: Ball64, b: Ball64) -> Ball64:
    total = exact_sum(a.mid, a.rad, -b.mid, b.rad)
    return _binary(_SUBTRACT, lambda a, b: _careful_add(a, -b), a, b) if total is None else Ball64(total)


def mul(a: Ball64, b: Ball64) -> Ball64:
    return _binary(fused_product, _careful_mul, a, b)


def div(a: Ball64, b: Ball64) -> Ball64:
    with np.errstate(all="ignore"):
        return _binary(fused_quotient, _careful_div, a, b)


_ADD, _SUBTRACT = fused_sum(np.add), fused_sum(np.subtract)


def _binary(kernel: Kernel, careful: Callable[[Ball64, Ball64], Ball64], a: Ball64, b: Ball64) -> Ball64:
    def again(x: Any, y: Any) -> tuple[Array, Array]:
        z = careful(Ball64(*x), Ball64(*y))
        return z.mid, z.radius()

    return Ball64(*in_blocks(kernel, again, (a.mid, a.rad), (b.mid, b.rad)))


def _careful_add(a: Ball64, b: Ball64) -> Ball64:
    mid = np.asarray(a.mid + b.mid)
    rad = np.abs(mid) * UNIT
    for term in (a.rad, b.rad):
        if term is not None:
            rad = rad + term
    return known(mid, up(rad))


def _careful_mul(a: Ball64, b: Ball64) -> Ball64:
    mid = np.asarray(a.mid * b.mid)
    rad = np.abs(mid) * UNIT
    if a.rad is not None:
        rad = rad + a.rad * b.magnitude()
    if b.rad is not None:
        rad = rad + np.abs(a.mid) * b.rad
    return zero_absorbs(known(mid, _cover_underflow(mid, up(rad), a, b)), a, b)


def _careful_div(a: Ball64, b: Ball64) -> Ball64:
    mid = np.asarray(a.mid / b.mid)
    rad = np.abs(mid) * UNIT
    if a.rad is not None or b.rad is not None:
        # |(a+s)/(b+t) - a/b| <= (|s| + |a/b| |t|) / (|b| - |t|), the denominator rounded down.
        nearest = np.abs(b.mid) * (1.0 - 4.0 * UNIT)
        nearest = nearest if b.rad is None else nearest - b.rad * (1.0 + 4.0 * UNIT)
        # Divided before multiplied: |a/b| |t| may underflow where its quotient does not.
        if a.rad is not None:
            rad = rad + a.rad / nearest
        if b.rad is not None:
            rad = rad + up(np.abs(mid)) * (b.rad / nearest)
        rad = np.where(nearest > 0.0, rad, np.inf)
    return known(mid, _cover_underflow(mid, up(rad), a))  # 0 / 0 stays unknown: only products absorb


def _cover_underflow(mid: Array, rad: Array, *factors: Ball64) -> Array:
    """A radius that also covers results too small for float64. Products with an exact zero stay exact."""
    small = np.abs(mid) < SMALL
    if not small.any():
        return rad
    inexact = small & ~_any_zero(factors)
    return np.where(inexact, up(rad + TINY), rad)


def zero_absorbs(y: Ball64, *factors: Ball64) -> Ball64:
    """Exactly zero times anything is zero: a branch that is not taken contributes nothing, whatever its slope."""
    if y.rad is None or np.isfinite(y.rad).all():
        return y
    zero = _any_zero(factors)
    if not zero.any():
        return y
    return Ball64(np.where(zero, 0.0, y.mid), np.where(zero, 0.0, y.rad))


def _any_zero(factors: tuple[Ball64, ...]) -> Array:
    zero = np.zeros((), bool)
    for x in factors:
        zero = zero | ((x.mid == 0.0) if x.rad is None else (x.mid == 0.0) & (x.rad == 0.0))
    return zero


class BallDomain64:
    """The arithmetic of `Ball64`. Entrywise functions without a vectorised enclosure are done in `arb`."""

    name = "float64 balls"

    def pi(self) -> Ball64:
        return Ball64(np.asarray(np.pi), np.asarray(2.0**-52))

    def times(self, x: Any, constant: str) -> Ball64:
        return mul(as_ball(x), Ball64(*map(np.asarray, constant_ball(constant))))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from gradproof.domains import entrywise64, matrix64

        kernel = entrywise64.kernel_of(name) or matrix64.KERNELS.get(name)
        if kernel is None:
            raise AttributeError(name)
        setattr(self, name, kernel)
        return kernel

    def settle(self, y: Any, dtype: str) -> Ball64:
        del dtype  # exact arithmetic knows no dtypes
        return as_ball(y)

    def enter(self, array: Array) -> Ball64:
        array = np.asarray(array)
        if np.iscomplexobj(array):
            from gradproof.errors import NotSupported

            raise NotSupported("float64 balls hold real numbers only")
        mid = widened(array)
        if all_finite(mid):
            exact = (
                array.dtype.itemsize < 8 or array.dtype.kind == "f" or bool((np.abs(mid) <= 2.0**53).all())
            )
            return Ball64(mid, None if exact else np.abs(mid) * 2.0**-52)
        finite = np.isfinite(mid)
        return Ball64(np.where(finite, mid, 0.0), np.where(finite, 0.0, np.inf))

    def leave(self, x: Ball64) -> tuple[Array, Array]:
        return x.mid, x.radius()

    def lift(self, function: Callable[..., Array], *xs: Any) -> Ball64:
        balls = [as_ball(x) for x in xs]
        mid = function(*(ball.mid for ball in balls))
        if all(ball.rad is None for ball in balls):
            return Ball64(mid)
        return Ball64(mid, function(*(ball.radius() for ball in balls)))

    def active(self) -> AbstractContextManager[Any]:
        return np.errstate(all="ignore")

    def add(self, a: Any, b: Any) -> Ball64:
        return add(as_ball(a), as_ball(b))

    def sub(self, a: Any, b: Any) -> Ball64:
        return sub(as_ball(a), as_ball(b))

    def mul(self, a: Any, b: Any) -> Ball64:
        return mul(as_ball(a), as_ball(b))

    def div(self, a: Any, b: Any) -> Ball64:
        return div(as_ball(a), as_ball(b))

    def neg(self, a: Any) -> Ball64:
        return -as_ball(a)

    def about(self, x: Any, radius: Any) -> Ball64:
        return add(as_ball(x), Ball64(np.zeros(np.shape(radius)), np.abs(as_ball(radius).mid)))

    def conj(self, a: Any) -> Ball64:
        return as_ball(a)

    def sum(self, x: Ball64, axes: tuple[int, ...]) -> Ball64:
        return _sum(x, lambda v: np.asarray(np.sum(v, axis=axes)), _count(x.shape, axes))

    def running_sum(self, x: Ball64, axis: int) -> Ball64:
        return _sum(x, lambda v: np.cumsum(v, axis=axis), x.shape[axis])

    def scatter_add(self, x: Ball64, indices: Any, size: int) -> Ball64:
        def scatter(values: Array) -> Array:
            y = np.zeros((size, *values.shape[np.ndim(indices) :]))
            np.add.at(y, indices, values)
            return y

        places = np.reshape(indices, -1) % max(size, 1)  # negative ones count from the back
        most = int(np.bincount(places, minlength=1).max()) if np.size(indices) else 0
        return _sum(x, scatter, most)

    def matmul(self, a: Ball64, b: Ball64) -> Ball64:
        from gradproof.domains.product64 import matmul

        return matmul(as_ball(a), as_ball(b))


def _sum(x: Ball64, total: Callable[[Array], Array], n: int) -> Ball64:
    """A sum of at most `n` terms in whatever order: its rounding error is below n*U times the sum of sizes."""
    mid = total(x.mid)
    rad = total(np.abs(x.mid)) * (n * UNIT * 1.01)
    if x.rad is not None:
        rad = rad + total(x.rad) * (1.0 + n * UNIT * 1.01)
    return known(mid, up(rad))


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    return int(np.prod([shape[axis] for axis in axes], dtype=np.int64))

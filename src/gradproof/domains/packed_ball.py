"""The arithmetic of balls of 128 bits for large programs: calls of the FLINT library on whole arrays.

It encloses exactly what `BallDomain(128)` does, several times faster. What has no call of its own, and every entry
that a call has no answer for, is done with python-flint's objects.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball_elementary import CONSTANTS
from gradproof.domains.flint_library import BITS, WORDS, WORTH_A_THREAD, Library, in_parts, library
from gradproof.domains.halving import rows_along, sum_by_halves
from gradproof.domains.packed import (
    CELL,
    cells_of,
    from_objects,
    is_zero,
    pack,
    to_objects,
    unpack,
    words_of,
)
from gradproof.domains.packed_product import sliced_product
from gradproof.domains.whole_powers import with_products
from gradproof.errors import NotSupported
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array

# Functions that the library knows under the same name and with the same meaning.
UNARY = frozenset({
    "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "erf", "erfc",
})  # fmt: skip
# These fall like exp(-x*x): far out the exponent of a result has no room in a word.
FAST_TAILS, FAR_OUT = frozenset({"erf", "erfc"}), 1000.0
EXACT_INTEGERS = 2**53


class Packed:
    """An array of balls; the operators are those of the library."""

    __slots__ = ("cells",)
    __array_ufunc__ = None  # NumPy arrays leave the operators to us

    def __init__(self, cells: Array) -> None:
        self.cells = cells

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.cells.shape)

    @property
    def ndim(self) -> int:
        return self.cells.ndim

    @property
    def size(self) -> int:
        return self.cells.size

    def __neg__(self) -> Packed:
        return binary("sub", 0, self)

    def __add__(self, other: Any) -> Packed:
        return binary("add", self, other)

    def __sub__(self, other: Any) -> Packed:
        return binary("sub", self, other)

    def __mul__(self, other: Any) -> Packed:
        return product(self, other)

    def __truediv__(self, other: Any) -> Packed:
        return binary("div", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Packed:
        return binary("sub", other, self)

    def __rtruediv__(self, other: Any) -> Packed:
        return binary("div", other, self)


def as_packed(x: Any) -> Packed:
    if isinstance(x, Packed):
        return x
    array = np.asarray(x)
    if (
        array.dtype.kind in "iu"
        and array.size
        and max(abs(int(array.max())), abs(int(array.min()))) > EXACT_INTEGERS
    ):
        return Packed(from_objects(array.astype(object)))
    return Packed(pack(array.astype(np.float64)))


def binary(name: str, a: Any, b: Any) -> Packed:
    """a (name) b with broadcasting; name is add, sub, mul or div."""
    one, other = as_packed(a).cells, as_packed(b).cells
    shape = joint_shape(one.shape, other.shape)
    left, right = (words_of(np.broadcast_to(cells, shape)) for cells in (one, other))
    found, y = _library(), np.zeros_like(left)
    if in_parts(found, lambda part: found.binary(name, y[part], left[part], right[part]), len(y)):
        return Packed(cells_of(y, shape))
    through: Packed = _through_objects(getattr(_OBJECTS, name))(Packed(one), Packed(other))
    return through


def product(a: Any, b: Any) -> Packed:
    """Entry by entry; exactly zero times anything is zero, whatever the other factor."""
    y = binary("mul", a, b)
    if _library().is_finite(words_of(y.cells)):
        return y
    zero = is_zero(as_packed(a).cells) | is_zero(as_packed(b).cells)
    return Packed(np.where(zero, np.zeros((), CELL), y.cells))


def _unary(name: str) -> Callable[..., Packed]:
    def kernel(x: Any) -> Packed:
        x = as_packed(x)
        if name in FAST_TAILS and np.any(np.abs(unpack(x.cells)[0]) > FAR_OUT):
            through: Packed = _through_objects(getattr(_OBJECTS, name))(x)
            return through
        words = words_of(x.cells)
        found, y = _library(), np.zeros_like(words)
        answered = in_parts(found, lambda part: found.unary(name, y[part], words[part]), len(y))
        return Packed(cells_of(y, x.shape)) if answered else _through_objects(getattr(_OBJECTS, name))(x)

    return kernel


def _through_objects(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def through(*xs: Any, **params: Any) -> Any:
        tick()
        with _OBJECTS.active():
            results = kernel(*(to_objects(x.cells) if isinstance(x, Packed) else x for x in xs), **params)
            several = isinstance(results, tuple)
            packed = tuple(Packed(from_objects(part)) for part in (results if several else (results,)))
        return packed if several else packed[0]

    return through


_OBJECTS = BallDomain(BITS)


def _library() -> Library:
    found = library()
    if found is None:
        raise NotSupported("the FLINT library is not there to be called")
    return found


class PackedBallDomain:
    """Balls of 128 bits in plain memory; to be used where `library()` is there."""

    precision_bits = BITS
    name = _OBJECTS.name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kernel = _unary(name) if name in UNARY else _through_objects(getattr(_OBJECTS, name))
        if name == "power":
            kernel = with_products(kernel, lambda e: unpack(as_packed(e).cells))
        setattr(self, name, kernel)
        return kernel

    def pi(self) -> Packed:
        with self.active():
            return Packed(from_objects(_OBJECTS.pi()))

    def times(self, x: Any, constant: str) -> Packed:
        with self.active():
            factor = Packed(from_objects(np.asarray(CONSTANTS[constant]())))
        return product(x, factor)

    def sigmoid(self, x: Any) -> Packed:
        small: Packed = self.exp(-as_packed(x))
        return 1 / (1 + small)

    def softplus(self, x: Any) -> Packed:
        y: Packed = self.log1p(self.exp(x))  # exponents have room enough for any x that occurs
        return y

    def log_sigmoid(self, x: Any) -> Packed:
        return -self.softplus(-as_packed(x))

    def settle(self, y: Any, dtype: str) -> Packed:
        del dtype  # exact arithmetic knows no dtypes
        return as_packed(y)

    def enter(self, array: Array) -> Packed:
        if np.iscomplexobj(array):
            raise NotSupported("balls in plain memory hold real numbers only")
        return as_packed(array)

    def leave(self, x: Packed) -> tuple[Array, Array]:
        return unpack(x.cells)

    def lift(self, function: Callable[..., Array], *xs: Any) -> Packed:
        return Packed(function(*(as_packed(x).cells for x in xs)))

    def active(self) -> AbstractContextManager[Any]:
        return _OBJECTS.active()

    def add(self, a: Any, b: Any) -> Packed:
        return binary("add", a, b)

    def sub(self, a: Any, b: Any) -> Packed:
        return binary("sub", a, b)

    def mul(self, a: Any, b: Any) -> Packed:
        return product(a, b)

    def div(self, a: Any, b: Any) -> Packed:
        return binary("div", a, b)

    def neg(self, a: Any) -> Packed:
        return -as_packed(a)

    def conj(self, a: Any) -> Packed:
        return as_packed(a)

    def sum(self, x: Packed, axes: tuple[int, ...]) -> Packed:
        """By halves, so that a call has much to do."""
        rows = rows_along(x.cells, axes)
        if len(rows) == 0:
            return Packed(np.zeros(rows.shape[1:], CELL))
        return Packed(sum_by_halves(rows, lambda a, b: binary("add", Packed(a), Packed(b)).cells))

    def scatter_add(self, x: Any, indices: Any, size: int) -> Packed:
        """Entries with the same place are added two by two until every place has one, so that a call has much to do."""
        x = as_packed(x)
        shape = x.shape[np.ndim(indices) :]
        places = np.reshape(indices, -1) % max(size, 1)  # negative ones count from the back
        order = np.argsort(places, kind="stable")
        places, rows = places[order], x.cells.reshape(len(places), *shape)[order]
        while (second := _every_second(places)).any():
            after = np.flatnonzero(second)
            rows[after - 1] = binary("add", Packed(rows[after - 1]), Packed(rows[after])).cells
            places, rows = places[~second], rows[~second]
        y = np.zeros((size, *shape), CELL)
        y[places] = rows
        return Packed(y)

    def matmul(self, a: Any, b: Any) -> Packed:
        a, b = as_packed(a), as_packed(b)
        batch = joint_shape(a.shape[:-2], b.shape[:-2])
        y = np.zeros((*batch, a.shape[-2], b.shape[-1]), CELL)
        if y.size == 0 or a.shape[-1] == 0:
            return Packed(y)
        left = np.broadcast_to(a.cells, (*batch, *a.shape[-2:]))
        right = np.broadcast_to(b.cells, (*batch, *b.shape[-2:]))
        for place in np.ndindex(*batch):
            y[place] = _matrix_product(left[place], right[place])
        return Packed(y)


def _every_second(places: Array) -> Array:
    """Of each run of equal numbers the second, the fourth, and so on."""
    numbers = np.arange(len(places))
    is_first = np.concatenate([[True], places[1:] != places[:-1]])[: len(places)]
    return np.asarray((numbers - np.maximum.accumulate(np.where(is_first, numbers, 0))) % 2 == 1)


def _matrix_product(a: Array, b: Array) -> Array:
    found = _library()
    left, right = (words_of(cells).reshape(*cells.shape, WORDS) for cells in (a, b))
    y = sliced_product(found, left, right)
    if y is None:
        y = np.zeros((len(left), *right.shape[1:]), np.int64)
        least = max(1, WORTH_A_THREAD // b.size)  # rows
        in_parts(found, lambda part: found.product(y[part], left[part], right), len(y), least)
    if found.is_finite(y.reshape(-1, WORDS)):
        return cells_of(y, y.shape[:2])
    through: Packed = _through_objects(_OBJECTS.matmul)(Packed(a), Packed(b))
    return through.cells

"""The C library inside python-flint, for calls on whole arrays of balls; there only if it passes a test of itself."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import flint
import numpy as np

from gradproof.clock import tick
from gradproof.domains.cores import cores, on_all_cores
from gradproof.ir.types import Array

# The layout of a ball is not part of the library's promises: it was looked at in these versions. A test alone would
# not do, since a call with another layout may crash.
CHECKED_VERSIONS = ("3.6.",)

BITS = 128  # the mantissa of a midpoint up to this precision lies in the ball itself, so that balls can be copied
WORDS = (
    6  # of a ball: exponent, size and sign, two limbs of the midpoint; exponent and mantissa of the radius
)

_POINTER, _LENGTH = ctypes.c_void_p, ctypes.c_ssize_t
_ROOM = 1024  # bytes for the library's context, several times what it takes
_BINARY = ("add", "sub", "mul", "div")


class Matrix(ctypes.Structure):
    """A matrix of balls, as the library sees it."""

    _fields_ = (("entries", _POINTER), ("rows", _LENGTH), ("columns", _LENGTH), ("stride", _LENGTH))


def matrix(words: Array) -> Any:
    """A view of contiguous words of shape (rows, columns, 6); the array must outlive it."""
    rows, columns = words.shape[:2]
    return ctypes.byref(Matrix(words.ctypes.data, rows, columns, columns))


class Library:
    """The functions that are used; results are written to memory of zeros, which is a valid ball."""

    def __init__(self, path: Path) -> None:
        self._c = ctypes.CDLL(str(path))
        self._context = ctypes.create_string_buffer(_ROOM)
        self._c.gr_ctx_init_real_arb.argtypes = (_POINTER, _LENGTH)
        self._c.gr_ctx_init_real_arb(self._context, BITS)
        self._c.arb_mat_mul.argtypes = (_POINTER, _POINTER, _POINTER, _LENGTH)
        self._c.gr_mat_entrywise_unary_op.argtypes = (_POINTER, _POINTER, _POINTER, _POINTER)
        self._c._arb_vec_is_finite.argtypes = (_POINTER, _LENGTH)
        self._c._arb_vec_indeterminate.argtypes = (_POINTER, _LENGTH)
        for name in _BINARY:
            function = getattr(self._c, f"_gr_vec_{name}")
            function.argtypes = (_POINTER, _POINTER, _POINTER, _LENGTH, _POINTER)

    def binary(self, name: str, y: Array, a: Array, b: Array) -> bool:
        """y = a (name) b, entry by entry of arrays (n, 6); False where some entry has no answer."""
        function = getattr(self._c, f"_gr_vec_{name}")
        return bool(function(y.ctypes.data, a.ctypes.data, b.ctypes.data, len(y), self._context) == 0)

    def unary(self, name: str, y: Array, x: Array) -> bool:
        """y = name(x), entry by entry of arrays (n, 6); False where some entry has no answer."""
        address = ctypes.cast(getattr(self._c, f"gr_{name}"), _POINTER)
        views = matrix(y[None]), matrix(x[None])
        return bool(self._c.gr_mat_entrywise_unary_op(views[0], address, views[1], self._context) == 0)

    def product(self, y: Array, a: Array, b: Array) -> bool:
        """y = a @ b, for arrays (rows, columns, 6); there always is an answer."""
        self._c.arb_mat_mul(matrix(y), matrix(a), matrix(b), BITS)
        return True

    def is_finite(self, x: Array) -> bool:
        return bool(self._c._arb_vec_is_finite(x.ctypes.data, len(x)))

    def unknown(self) -> Array:
        """The words of a ball without information."""
        words = np.zeros((1, WORDS), np.int64)
        self._c._arb_vec_indeterminate(words.ctypes.data, 1)
        return np.asarray(words[0])

    def leave_thread(self) -> None:
        """Frees what the library keeps for the calling thread."""
        self._c.flint_cleanup()


WORTH_A_THREAD = 2_000  # balls; starting a thread takes as long as a hundred cheap functions


def in_parts(found: Library, work: Callable[[slice], bool], n: int, least: int = WORTH_A_THREAD) -> bool:
    """`work` on the parts of 0..n, one per core, and whether all were answered."""
    tick()
    count = max(1, min(cores(), n // least))

    def answer(k: int) -> bool:
        answered = work(slice(n * k // count, n * (k + 1) // count))
        if threading.current_thread() is not caller:
            found.leave_thread()
        return answered

    caller = threading.current_thread()
    return all(on_all_cores(answer, range(count)))


@cache
def library() -> Library | None:
    """The library, or None if it is not found, not of a known version, or not what it should be."""
    if not flint.__FLINT_VERSION__.startswith(CHECKED_VERSIONS):
        return None
    for path in _candidates():
        try:
            found = Library(path)
            if _works(found):
                return found
        except (OSError, AttributeError):
            continue
    return None


def _candidates() -> list[Path]:
    """Where wheels put the library that the package is linked with."""
    package = Path(flint.__file__).parent
    folders = (package.parent / "python_flint.libs", package / ".dylibs", package)
    return [path for folder in folders for path in sorted(folder.glob("libflint*"))]


# The words of 3 and -1/2; the mantissa of 1/6 in two limbs.
_THREE = (2, 2, 3 << 62, 0, 0, 0)
_MINUS_HALF = (0, 3, 1 << 63, 0, 0, 0)
_SIXTH_MANTISSA = (1 << 128) * 2 // 3  # 2/3, with exponent -2


def _works(found: Library) -> bool:
    """Known numbers through every kind of call."""
    a, b = (np.array([words], np.uint64).view(np.int64) for words in (_THREE, _MINUS_HALF))
    y, z, p = (np.zeros((1, WORDS), np.int64) for _ in range(3))
    if not (found.binary("mul", y, a, b) and found.binary("div", z, b, a)):
        return False
    found.product(p[None], a[None], b[None])
    exact = [1, 3, (3 << 62) - (1 << 64), 0, 0]  # -3/2; the second limb is not in use
    low, high = (int(word) % 2**64 for word in z[0, 2:4])  # of -1/6
    is_sixth = z[0, :2].tolist() == [-2, 5] and abs((high << 64 | low) - _SIXTH_MANTISSA) <= 2
    has_radius = z[0, 5] > 0 and -132 <= z[0, 4] <= -126
    e = np.zeros((1, WORDS), np.int64)
    is_one = found.unary("exp", e, np.zeros((1, WORDS), np.int64)) and e[0, :3].tolist() == [1, 2, -(1 << 63)]
    is_lost = not found.is_finite(found.unknown()[None]) and found.is_finite(z)
    is_exact = all(np.delete(words[0], 3).tolist() == exact for words in (y, p))
    return bool(is_exact and is_sixth and has_radius and is_one and is_lost)

"""Balls of 128 bits in plain NumPy memory: six words each, laid out as the FLINT library lays them out."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import acb, arb

from gradproof.domains.flint_library import BITS, WORDS, library
from gradproof.domains.rounding64 import TINY, up
from gradproof.errors import NotSupported
from gradproof.ir.types import Array

# One ball is one entry for NumPy, so that whatever moves entries moves balls; all bytes zero is the number zero.
CELL = np.dtype((np.void, 8 * WORDS))

_LIMB, _RADIUS_BITS = 64, 30
_MASK = (1 << _LIMB) - 1
_FAR = 4000  # exponents beyond this are beyond float64 in any case
_LOW = -900  # below this exponent something may underflow in float64
_HUGE = 1 << 60  # exponents of this size are not kept in the ball itself
_LEAST = -_HUGE // 2


def words_of(cells: Array) -> Array:
    """The words of balls, shape (n, 6); a view if the cells are contiguous."""
    return np.ascontiguousarray(cells).reshape(-1).view(np.int64).reshape(-1, WORDS)


def cells_of(words: Array, shape: tuple[int, ...]) -> Array:
    return words.reshape(-1).view(CELL).reshape(shape)


def pack(values: Array) -> Array:
    """Exact cells of float64 numbers; NaN and infinities become balls without information."""
    flat = np.ascontiguousarray(values, np.float64).reshape(-1)
    words = np.zeros((flat.size, WORDS), np.int64)
    mantissa, words[:, 0] = np.frexp(np.abs(flat))
    words[:, 1] = np.where(flat == 0.0, 0, 2 + (flat < 0.0))
    finite = np.isfinite(flat)
    # The highest bit of a limb is set: 53 bits, moved up by 11.
    words[:, 2] = (np.where(finite, mantissa, 0.0) * 2.0**53).astype(np.int64) << 11
    if not finite.all():
        words[~finite] = _unknown()
    return cells_of(words, np.shape(values))


def unpack(cells: Array) -> tuple[Array, Array]:
    """Midpoints and radii in float64; what it cannot hold has midpoint 0 and an infinite radius."""
    exponent, size, low, high, radius_exponent, radius_mantissa = words_of(cells).T
    limbs = size >> 1
    # What a zero leaves in the limbs has no meaning.
    top = np.where(limbs == 2, high, np.where(limbs == 1, low, 0)).view(np.uint64)
    near, radius_near = np.clip(exponent, -_FAR, _FAR), np.clip(radius_exponent, -_FAR, _FAR)
    mid = np.ldexp((top >> np.uint64(11)).astype(np.float64), near - 53)
    rad = np.ldexp(radius_mantissa.astype(np.float64), radius_near - _RADIUS_BITS)
    cut = (limbs == 2) | ((top & np.uint64(2047)) != 0)
    rad += np.where(cut, np.ldexp(1.0, near - 53), 0.0)
    is_tiny = ((limbs > 0) & (exponent < _LOW)) | ((radius_mantissa > 0) & (radius_exponent < _LOW))
    rad = up(np.where(is_tiny, rad + TINY, rad))
    # No limbs but an exponent: infinite or NaN. More than two limbs never come of a precision of 128 bits.
    lost = ((limbs == 0) & (exponent != 0)) | ((radius_mantissa == 0) & (radius_exponent != 0))
    lost |= (limbs > 2) | (exponent > 1024) | ~(rad < np.inf)
    mid = np.where(size & 1, -mid, mid)
    shape = cells.shape
    return np.where(lost, 0.0, mid).reshape(shape), np.where(lost, np.inf, rad).reshape(shape)


def is_zero(cells: Array) -> Array:
    """Where a ball is exactly zero."""
    words = words_of(cells)
    return np.asarray(~words[:, [0, 1, 4, 5]].any(axis=1)).reshape(cells.shape)


def to_objects(cells: Array) -> Array:
    """The same balls as objects of python-flint, at a precision of at least 128 bits."""
    y = np.empty(cells.size, dtype=object)
    y[:] = [_object(*row) for row in words_of(cells).tolist()]
    return y.reshape(cells.shape)


def from_objects(x: Any) -> Array:
    """Cells of an array of objects of python-flint or plain numbers."""
    x = np.asarray(x, dtype=object)
    words = np.zeros((x.size, WORDS), np.uint64)
    for place, entry in enumerate(x.reshape(-1)):
        words[place] = _words(entry)
    return cells_of(words.view(np.int64), x.shape)


def _object(exponent: int, size: int, low: int, high: int, radius_exponent: int, radius: int) -> arb:
    limbs = size >> 1
    if limbs > 2 or (limbs == 0 and exponent != 0) or (radius == 0 and radius_exponent != 0):
        return arb("nan")
    if abs(exponent) >= _HUGE or abs(radius_exponent) >= _HUGE:
        return arb("nan")
    mantissa = (low & _MASK) | ((high & _MASK) << _LIMB if limbs == 2 else 0)
    mid = _dyadic(-mantissa if size & 1 else mantissa, exponent - _LIMB * limbs) if limbs else arb(0)
    return arb(mid, _dyadic(radius, radius_exponent - _RADIUS_BITS)) if radius else mid


def _dyadic(mantissa: int, exponent: int) -> arb:
    return arb(mantissa) * arb(2) ** exponent  # exact: one factor is a power of two


def _words(entry: Any) -> list[int]:
    if isinstance(entry, acb):
        raise NotSupported("balls in plain memory hold real numbers only")
    entry = +(entry if isinstance(entry, arb) else arb(entry))
    if not entry.is_finite():
        return [int(word) & _MASK for word in _unknown()]
    mantissa, exponent, radius, radius_exponent = _with_room(
        *(int(part) for ball in (entry.mid(), entry.rad()) for part in ball.man_exp())
    )
    bits, radius_bits = abs(mantissa).bit_length(), radius.bit_length()
    if bits > BITS or radius_bits > _RADIUS_BITS or max(abs(exponent), abs(radius_exponent)) >= _HUGE:
        return [int(word) & _MASK for word in _unknown()]
    limbs = -(-bits // _LIMB)
    filled = abs(mantissa) << (_LIMB * limbs - bits)
    return [
        (exponent + bits) & _MASK if bits else 0,
        limbs << 1 | (mantissa < 0),
        filled & _MASK,
        filled >> _LIMB,
        (radius_exponent + radius_bits) & _MASK if radius else 0,
        radius << (_RADIUS_BITS - radius_bits),
    ]


def _with_room(mantissa: int, exponent: int, radius: int, radius_exponent: int) -> tuple[int, int, int, int]:
    """The same ball, or a larger one where its numbers are so small that their exponents have no room."""
    if radius and radius_exponent < _LEAST:
        radius, radius_exponent = 1, _LEAST + radius.bit_length()
    if not mantissa or exponent + abs(mantissa).bit_length() >= _LEAST:
        return mantissa, exponent, radius, radius_exponent
    # Zero, with a radius of more than both sizes together.
    return 0, 0, 1, (radius_exponent + radius.bit_length() if radius else _LEAST) + 1


def _unknown() -> Array:
    found = library()
    assert found is not None, "packed balls are made only where the library works"
    return found.unknown()

"""The inputs at which derivative rules go wrong: each makes them from ordinary ones, and has a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gradproof.frontends.library.model import OpCall
from gradproof.ir.types import Array

ORDINARY = "ordinary"


def _filled(value: float) -> Callable[[Array], Array]:
    return lambda x: np.full_like(x, value)


def _with_zeros(count: int) -> Callable[[Array], Array]:
    """As a product, a norm or a division sees them: between other numbers."""

    def made(x: Array) -> Array:
        y = x.copy()
        y.reshape(-1)[:count] = 0.0
        return y

    return made


def _ties(x: Array) -> Array:
    return np.full_like(x, x.reshape(-1)[0]) if x.size else x


def _equal_rows(x: Array) -> Array:
    """Also a matrix without an inverse."""
    return x if x.ndim < 2 or x.size == 0 else np.ascontiguousarray(np.broadcast_to(x[..., :1, :], x.shape))


def _nearly_equal_rows(x: Array) -> Array:
    if x.ndim < 2 or x.size == 0:
        return x
    share = np.sqrt(np.finfo(x.dtype).eps)
    return np.asarray(_equal_rows(x) * (1 - share) + x * share, x.dtype)


def _least(x: Array) -> Array:
    """Below the normal numbers of the dtype."""
    return np.full_like(x, np.finfo(x.dtype).smallest_subnormal * 64)


def _most(x: Array) -> Array:
    """So large that the square is beyond the dtype."""
    scale = np.sqrt(float(np.finfo(x.dtype).max)) * 4.0
    return np.asarray(np.where(x == 0, 1.0, np.sign(x)) * scale, x.dtype)


def _one_huge(x: Array) -> Array:
    """Among ordinary numbers, which it swallows; where all are huge, a tie may hide what is lost between them."""
    y = x.copy()
    y.reshape(-1)[:1] = _most(x.reshape(-1)[:1])
    return y


def _ends(x: Array) -> Array:
    """The ends of the usual domains, one after the other."""
    return np.resize(np.array([0.0, 1.0, -1.0], x.dtype), x.shape)


POINTS: dict[str, Callable[[Array], Array]] = {
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "minus-ones": _filled(-1.0),
    "one-zero": _with_zeros(1),
    "two-zeros": _with_zeros(2),
    "ties": _ties,
    "equal-rows": _equal_rows,
    "nearly-equal-rows": _nearly_equal_rows,
    "whole": lambda x: np.round(x).astype(x.dtype),
    "negative": lambda x: -np.abs(x),
    "small": lambda x: (x * x.dtype.type(2.0**-20)).astype(x.dtype),
    "large": lambda x: (x * x.dtype.type(30.0)).astype(x.dtype),
    "subnormal": _least,
    "huge": _most,
    "one-huge": _one_huge,
    "ends": _ends,
}
"""By name; `ordinary` stands for the samples as they are."""


def at_points(sample: OpCall, names: list[str]) -> Iterator[OpCall]:
    """The sample at other points: all its arrays there, and where there are several, only the first."""
    seen = {_key(sample)}
    for name in names:
        if name == ORDINARY:
            continue
        made = {
            key: array if key in sample.labels else POINTS[name](array)
            for key, array in sample.arrays.items()
        }
        first = dict(list(made.items())[:1])
        for arrays in (made, {**sample.arrays, **first}):
            moved = replace(sample, arrays=arrays, point=name)
            finite = all(bool(np.isfinite(array).all()) for array in arrays.values())
            if finite and _key(moved) not in seen:
                seen.add(_key(moved))
                yield moved


def with_labels(sample: OpCall) -> OpCall:
    """The sample with its labels named: where all numbers are whole ones, none can be told from the others."""
    whole = [name for name, x in sample.arrays.items() if x.size and bool((x == np.round(x)).all())]
    return sample if len(whole) == len(sample.arrays) else replace(sample, labels=tuple(whole))


def _key(sample: OpCall) -> tuple[bytes, ...]:
    return tuple(array.tobytes() for array in sample.arrays.values())

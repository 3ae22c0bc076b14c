"""Running sums and products, and products over axes; right also where factors are zero.

Products rest on one linear recurrence, y[k] = a[k] y[k-1] + b[k]. Its derivative is the same recurrence run
backwards, so derivatives of all orders need no division.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.ops._op import ANY, Sample, op

_ROW = (0.5, -2.0, 7.0, 3.0, 1.25)
_MATRIX = ((1.0, 2.0, -7.0), (0.5, 0.0, 3.0))


def _part(m: Any, x: Any, axis: int, begin: int, end: int, stride: int = 1) -> Any:
    lower, upper, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    lower[axis], upper[axis], strides[axis] = begin, end, stride
    return m.strided_slice(x, begin=tuple(lower), end=tuple(upper), stride=tuple(strides))


def _shifted(m: Any, x: Any, axis: int, fill: int, reverse: bool = False) -> Any:
    """Every entry moved one place on along the axis (back if `reverse`); `fill` moves in."""
    if x.shape[axis] == 0:
        return x
    border = m.literal(_filled(x.shape, axis, fill))
    if reverse:
        return m.concat(_part(m, x, axis, 1, x.shape[axis]), border, axis=axis)
    return m.concat(border, _part(m, x, axis, 0, x.shape[axis] - 1), axis=axis)


def _filled(shape: tuple[int, ...], axis: int, fill: int) -> Any:
    return np.full((*shape[:axis], 1, *shape[axis + 1 :]), float(fill))


def _interleaved(m: Any, even: Any, odd: Any, axis: int) -> Any:
    """even[0], odd[0], even[1], ...; there may be one more of the even ones."""
    n = even.shape[axis] + odd.shape[axis]
    paired = m.stack(_part(m, even, axis, 0, odd.shape[axis]), odd, axis=axis + 1)
    y = m.reshape(paired, shape=(*odd.shape[:axis], 2 * odd.shape[axis], *odd.shape[axis + 1 :]))
    return m.concat(y, _part(m, even, axis, odd.shape[axis], even.shape[axis]), axis=axis) if n % 2 else y


def _recurrence(m: Any, a: Any, b: Any, axis: int, reverse: bool = False) -> Any:
    """y[k] = a[k] y[k-1] + b[k] along an axis, starting from 0; with `reverse` y[k] = a[k] y[k+1] + b[k].

    Two steps are joined into one and the half as long recurrence is solved first, so that the number of
    array operations grows with the logarithm of the length.
    """
    if reverse:
        flipped = _recurrence(m, m.reverse(a, axes=(axis,)), m.reverse(b, axes=(axis,)), axis)
        return m.reverse(flipped, axes=(axis,))
    n = b.shape[axis]
    if n <= 1:
        return b
    pairs = n // 2 * 2
    a_even, b_even = (_part(m, x, axis, 0, n, 2) for x in (a, b))
    a_odd, b_odd = (_part(m, x, axis, 1, n, 2) for x in (a, b))
    a_first, b_first = (_part(m, x, axis, 0, pairs, 2) for x in (a, b))
    odd = _recurrence(m, m.mul(a_odd, a_first), m.add(m.mul(a_odd, b_first), b_odd), axis)
    before = _shifted(m, odd, axis, fill=0)
    if n % 2:
        before = m.concat(before, _part(m, odd, axis, n // 2 - 1, n // 2), axis=axis)
    return _interleaved(m, m.add(m.mul(a_even, before), b_even), odd, axis)


def _recurrence_pullback(
    m: Any, i: int, gy: Any, y: Any, a: Any, b: Any, axis: int, reverse: bool = False
) -> Any:
    back = m.conj(_shifted(m, a, axis, 0, not reverse))
    carried = m.recurrence(back, gy, axis=axis, reverse=not reverse)
    return m.mul(carried, m.conj(_shifted(m, y, axis, 0, reverse))) if i == 0 else carried


op(
    "recurrence",
    forward=_recurrence,
    pullback=_recurrence_pullback,
    samples=(
        Sample((_ROW, (3.0, 0.5, -1.0, 0.25, 2.0)), {"axis": 0}),
        Sample((_MATRIX, ((3.0, 0.5, -1.0), (0.25, 2.0, 6.0))), {"axis": 1, "reverse": True}),
        Sample((((2.0,),), ((3.0,),)), {"axis": 1}),
    ),
    kinds=ANY,
)


def _cumsum(m: Any, x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
    """Running sums along an axis; `exclusive` leaves out the entry itself, `reverse` starts from the end."""
    if exclusive:
        x = _shifted(m, x, axis, 0, reverse)
    if reverse:
        return m.reverse(m.running_sum(m.reverse(x, axes=(axis,)), axis=axis), axes=(axis,))
    return m.running_sum(x, axis=axis)


op(
    "cumsum",
    forward=_cumsum,
    pullback=lambda m, i, gy, y, x, axis, exclusive=False, reverse=False: m.cumsum(
        gy, axis=axis, exclusive=exclusive, reverse=not reverse
    ),
    linear="jointly",
    samples=tuple(
        Sample((_MATRIX,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})
        for axis, exclusive, reverse in (
            (0, False, False),
            (1, False, True),
            (1, True, False),
            (1, True, True),
        )
    ),
    kinds=ANY,
)


def _cumprod(m: Any, x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
    """Running products along an axis; `exclusive` and `reverse` as in `cumsum`."""
    if x.shape[axis] == 0:
        return x
    factors = _shifted(m, x, axis, 1, reverse) if exclusive else x
    # The recurrence starts from 0: its first factor meets nothing, so the first entry is added instead.
    n = x.shape[axis]
    first = _part(m, factors, axis, n - 1, n) if reverse else _part(m, factors, axis, 0, 1)
    start = [0] * x.ndim
    start[axis] = n - 1 if reverse else 0
    start_only = m.embed(first, begin=tuple(start), stride=(1,) * x.ndim, shape=tuple(x.shape))
    return m.recurrence(factors, start_only, axis=axis, reverse=reverse)


def _cumprod_pullback(
    m: Any, i: int, gy: Any, y: Any, x: Any, axis: int, exclusive: bool = False, reverse: bool = False
) -> Any:
    """What comes before an entry, times the sum of all that comes after it: zeros do no harm."""
    x = m.conj(x)
    before = m.cumprod(x, axis=axis, exclusive=True, reverse=reverse)
    seen = _shifted(m, gy, axis, 0, not reverse) if exclusive else gy
    after = m.recurrence(_shifted(m, x, axis, 0, not reverse), seen, axis=axis, reverse=not reverse)
    return m.mul(before, after)


op(
    "cumprod",
    forward=_cumprod,
    pullback=_cumprod_pullback,
    samples=tuple(
        Sample((x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})
        for x, axis, exclusive, reverse in (
            (_ROW, 0, False, False),
            (_MATRIX, 1, False, True),
            (_MATRIX, 1, True, False),
            ((0.0, 2.0, 0.0, 3.0), 0, True, True),
        )
    ),
    kinds=ANY,
)


def _factors(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The axes to be multiplied, moved to the end and made one."""
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = m.transpose(x, order=(*rest, *axes))
    return m.reshape(moved, shape=(*moved.shape[: len(rest)], math.prod(x.shape[axis] for axis in axes)))


def _prod(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Neighbours are multiplied until one factor is left."""
    factors = _factors(m, x, axes)
    last = factors.ndim - 1
    if factors.shape[last] == 0:
        return m.add(m.zeros(factors.shape[:last]), 1)
    while (n := factors.shape[last]) > 1:
        half = n // 2
        product = m.mul(_part(m, factors, last, 0, half), _part(m, factors, last, half, 2 * half))
        factors = m.concat(product, _part(m, factors, last, n - 1, n), axis=last) if n % 2 else product
    return m.reshape(factors, shape=tuple(factors.shape[:last]))


def _prod_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The product of all other factors, as what comes before times what comes after."""
    factors = m.conj(_factors(m, x, axes))
    last = factors.ndim - 1
    before = m.cumprod(factors, axis=last, exclusive=True)
    after = m.cumprod(factors, axis=last, exclusive=True, reverse=True)
    flat = m.mul(m.reshape(gy, shape=(*gy.shape, 1)), m.mul(before, after))
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = m.reshape(flat, shape=tuple(x.shape[axis] for axis in (*rest, *axes)))
    home = sorted(range(x.ndim), key=(*rest, *axes).__getitem__)
    return m.transpose(moved, order=tuple(home))


op(
    "prod",
    forward=_prod,
    pullback=_prod_pullback,
    samples=(
        Sample((_ROW,), {"axes": (0,)}),
        Sample((_MATRIX,), {"axes": (1,)}),
        Sample((_MATRIX,), {"axes": (0, 1)}),
        Sample(((0.0, 2.0, 0.0),), {"axes": (0,)}),
        Sample(((_MATRIX, _MATRIX),), {"axes": (2, 0)}),
    ),
    kinds=ANY,
)

"""Bessel functions of integer order: I, J, K and Y, and I and K scaled by an exponential."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import Sample, op


def _samples(*values: Any) -> tuple[Sample, ...]:
    return tuple(Sample((x,), {"order": order}) for order in (0, 1) for x in values)


def _neighbours(name: str, down: int, up: int, own: int = 0) -> Any:
    """The slope (down * f[n-1] + up * f[n+1]) / 2 + own * f[n]; it holds at 0 too, unlike f[n] / x."""

    def slope(m: Any, y: Any, x: Any, order: int) -> Any:
        function = getattr(m, name)
        total = (down * function(x, order=order - 1) + up * function(x, order=order + 1)) * 0.5
        return total + own * y if own else total

    return (slope,)


_ANY = ((0.5,), (-2.0, 0.0, 7.0))
_POSITIVE = ((0.5,), (0.0078125, 2.0, 7.0))

op("bessel_i", slopes=_neighbours("bessel_i", 1, 1), samples=_samples(*_ANY))
# exp(-x) I(x): smooth, unlike exp(-|x|) I(x), which branches on the sign of x.
op("bessel_i_scaled", slopes=_neighbours("bessel_i_scaled", 1, 1, own=-1), samples=_samples(*_ANY, 200.0))
op("bessel_j", slopes=_neighbours("bessel_j", 1, -1), samples=_samples(*_ANY, 200.0))
op("bessel_k", slopes=_neighbours("bessel_k", -1, -1), samples=_samples(*_POSITIVE), edges=(0.0,))
op(
    "bessel_k_scaled",  # exp(x) K(x)
    slopes=_neighbours("bessel_k_scaled", -1, -1, own=1),
    samples=_samples(*_POSITIVE, 200.0),
    edges=(0.0,),
)
op("bessel_y", slopes=_neighbours("bessel_y", 1, -1), samples=_samples(*_POSITIVE, 200.0), edges=(0.0,))


def bessel_ie(m: Any, x: Any, order: int) -> Any:
    """exp(-|x|) I(x), as frameworks scale it; the branch on the sign of x is a decision of the program."""
    negative = m.less(x, 0)
    y = m.bessel_i_scaled(m.select(negative, m.neg(x), x), order=order)
    return m.select(negative, m.neg(y), y) if order % 2 else y

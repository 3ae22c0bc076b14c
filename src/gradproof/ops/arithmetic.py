"""Addition to powers: the entrywise arithmetic every other op is built on."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import Sample, op

_PAIRS = ((2.0, -0.75), ((0.5, 7.0, -3.0), 1.25), (((1.5,), (-2.0,)), (3.0, 0.125)))
_ENTRIES = ((0.5,), ((-2.0, 7.0),))

op("pi")
op("add", slopes=(lambda m, y, a, b: 1, lambda m, y, a, b: 1), linear="jointly", samples=_PAIRS)
op("sub", slopes=(lambda m, y, a, b: 1, lambda m, y, a, b: -1), linear="jointly", samples=_PAIRS)
op("mul", slopes=(lambda m, y, a, b: b, lambda m, y, a, b: a), linear="each", samples=_PAIRS)
op("div", slopes=(lambda m, y, a, b: 1 / b, lambda m, y, a, b: -y / b), samples=_PAIRS, edges=(0.0,))
op("neg", slopes=(lambda m, y, x: -1,), linear="jointly", samples=_ENTRIES)
op("reciprocal", forward=lambda m, x: 1 / x, slopes=(lambda m, y, x: -y * y,), samples=_ENTRIES, edges=(0.0,))
op("square", forward=lambda m, x: x * x, slopes=(lambda m, y, x: 2 * x,), samples=_ENTRIES)


def _integer_power(m: Any, x: Any, exponent: int) -> Any:
    """Repeated squaring; x**0 is 1 also at 0, and negative powers are one division."""
    if exponent < 0:
        return 1 / _integer_power(m, x, -exponent)
    y, base = None, x
    while exponent:
        if exponent & 1:
            y = base if y is None else m.mul(y, base)
        exponent >>= 1
        if exponent:
            base = m.mul(base, base)
    return m.add(m.zeros(x.shape), 1) if y is None else y


op(
    "integer_power",
    forward=_integer_power,
    # Written with the exponent lowered first, so that x**0 and x**1 have their true slopes at 0.
    slopes=(lambda m, y, x, exponent: exponent * m.integer_power(x, exponent=exponent - 1) if exponent else 0,),
    samples=tuple(Sample((x,), {"exponent": n}) for n in (-3, -1, 0, 1, 2, 5) for x in (0.5, (-2.0, 7.0))),
    edges=(0.0,),
)

"""Addition to powers: the entrywise arithmetic every other op is built on."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import ANY, Sample, op

_PAIRS = (
    (2.0, -0.75),
    ((0.5, 7.0, -3.0), 1.25),
    (((1.5,), (-2.0,)), (3.0, 0.125)),
    (1.5 - 0.5j, (0.25 + 2.0j, -3.0 - 1.0j)),
)
_ENTRIES = ((0.5,), ((-2.0, 7.0),), ((0.5 - 1.25j, -2.0 + 0.125j),))

op("pi")
op("about", kinds=ANY)  # all that lies within a radius of a number: what was measured; a fact of the run
op("add", slopes=(lambda m, y, a, b: 1, lambda m, y, a, b: 1), linear="jointly", samples=_PAIRS, kinds=ANY)
op("sub", slopes=(lambda m, y, a, b: 1, lambda m, y, a, b: -1), linear="jointly", samples=_PAIRS, kinds=ANY)
op("mul", slopes=(lambda m, y, a, b: b, lambda m, y, a, b: a), linear="each", samples=_PAIRS, kinds=ANY)
op(
    "div",
    slopes=(lambda m, y, a, b: 1 / b, lambda m, y, a, b: -y / b),
    samples=_PAIRS,
    edges=(0.0,),
    kinds=ANY,
)
op(
    "identity",
    forward=lambda m, x: x,
    slopes=(lambda m, y, x: 1,),
    linear="jointly",
    moves_only=True,
    samples=_ENTRIES,
    kinds=ANY,
)
op("neg", slopes=(lambda m, y, x: -1,), linear="jointly", samples=_ENTRIES, kinds=ANY)
op(
    "reciprocal",
    forward=lambda m, x: 1 / x,
    slopes=(lambda m, y, x: -y * y,),
    samples=_ENTRIES,
    edges=(0.0,),
    kinds=ANY,
)
op("square", forward=lambda m, x: x * x, slopes=(lambda m, y, x: 2 * x,), samples=_ENTRIES, kinds=ANY)

# The product that is 0 wherever a factor is, also in floating point. In the ball domains every product is;
# rules use it where the exact slope is finite although one factor of the formula is not.
op(
    "absorbing_mul",
    forward=lambda m, a, b: m.mul(a, b),
    slopes=(lambda m, y, a, b: b, lambda m, y, a, b: a),
    linear="each",
    samples=(*_PAIRS, (0.0, (3.0, -1.0))),
    kinds=ANY,
)

# A multiple by an irrational constant, given by name: CONSTANTS in domains/ball_elementary.py lists them.
op(
    "times",
    pullback=lambda m, i, gy, y, x, constant: m.times(gy, constant=constant),
    linear="jointly",
    samples=(Sample(((0.5, -3.0),), {"constant": "pi"}), Sample((0.75,), {"constant": "1/sqrt(2pi)"})),
    kinds=ANY,
)


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
    slopes=(
        lambda m, y, x, exponent: exponent * m.integer_power(x, exponent=exponent - 1) if exponent else 0,
    ),
    samples=(
        *(Sample((x,), {"exponent": n}) for n in (-3, -1, 0, 1, 2, 5) for x in (0.5, (-2.0, 7.0))),
        *(Sample((0.0,), {"exponent": n}) for n in (0, 1, 2, 3)),
        Sample((0.5 - 1.25j,), {"exponent": 3}),
    ),
    edges=(0.0,),
    kinds=ANY,
)

# x**(e - less) for x > 0, for x = 0 with an exponent >= 0, and for x < 0 where the exponent is an integer,
# which `less` keeps exact everywhere. The slopes absorb: x**0 does not change with x, nor 0**e with e > 0.
op(
    "power",
    slopes=(
        lambda m, y, x, e, less=0: m.absorbing_mul(m.sub(e, less), m.power(x, e, less=less + 1)),
        lambda m, y, x, e, less=0: m.absorbing_mul(y, m.log(x)),
    ),
    samples=(
        (0.5, 1.75),
        ((7.0, 1.25, 0.01), (-0.5, 3.0, 0.75)),
        ((-2.0, -0.5), (3, -2)),
        ((0.0, 0.0, 0.0), (0, 1, 3)),
        (0.5 - 1.25j, -0.5 + 2.0j),
        Sample((0.75, 2.5), {"less": 2}),
    ),
    edges=(0.0,),
    kinds=ANY,
)

op(
    "hypot",
    slopes=(lambda m, y, a, b: a / y, lambda m, y, a, b: b / y),
    samples=((3.0, -0.75), ((0.0, 100.0), (-2.0, 0.125))),
    edges=(0.0,),
)

# Zero wherever x is zero, whatever the other factor; the slopes are those of the exact function.
op(
    "xdivy",
    slopes=(lambda m, y, x, d: 1 / d, lambda m, y, x, d: -y / d),
    samples=((0.5, -4.0), (0.0, 3.0)),
    kinds=ANY,
)
op(
    "xlogy",
    slopes=(lambda m, y, x, z: m.log(z), lambda m, y, x, z: m.xdivy(x, z)),
    samples=((0.5, 4.0), ((0.0, -3.0), (3.0, 0.125))),
    edges=(0.0,),
    kinds=ANY,
)
op(
    "xlog1py",
    slopes=(lambda m, y, x, z: m.log1p(z), lambda m, y, x, z: m.xdivy(x, 1 + z)),
    samples=((0.5, 4.0), ((0.0, -3.0), (3.0, -0.125))),
    edges=(-1.0,),
    kinds=ANY,
)

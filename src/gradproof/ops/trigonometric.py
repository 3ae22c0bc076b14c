"""Trigonometric functions and their inverses."""

from __future__ import annotations

from gradproof.ops._op import ANY, op

_COMPLEX = ((0.5 - 1.25j, -2.0 + 0.125j, 3.0 + 0.75j),)
_ANY = ((0.5,), ((-2.0, 3.0, 0.0078125, 100.0),), _COMPLEX)
_UNIT = ((0.5,), ((-0.875, 0.984375, 0.0078125),), _COMPLEX)

op("sin", slopes=(lambda m, y, x: m.cos(x),), samples=_ANY, kinds=ANY)
op("cos", slopes=(lambda m, y, x: -m.sin(x),), samples=_ANY, kinds=ANY)
op("tan", slopes=(lambda m, y, x: 1 + y * y,), samples=_ANY, kinds=ANY)

# sin(x) / x, with its true value and derivatives at 0; the slope is a hypergeometric function of x^2.
op(
    "sinc",
    slopes=(lambda m, y, x: -x * m.hyp0f1(-(x * x) * 0.25, b=2.5) / 3,),
    samples=((0.5,), ((-2.0, 0.0, 0.0078125, 30.0),)),
)

# Two roots instead of one: this keeps the digits near the ends, and the right branch in the complex plane.
op(
    "asin",
    slopes=(lambda m, y, x: 1 / (m.sqrt(1 - x) * m.sqrt(1 + x)),),
    samples=_UNIT,
    edges=(-1.0, 1.0),
    kinds=ANY,
)
op(
    "acos",
    slopes=(lambda m, y, x: -1 / (m.sqrt(1 - x) * m.sqrt(1 + x)),),
    samples=_UNIT,
    edges=(-1.0, 1.0),
    kinds=ANY,
)
op("atan", slopes=(lambda m, y, x: 1 / (1 + x * x),), samples=_ANY, kinds=ANY)
op(
    "atan2",
    slopes=(
        lambda m, y, a, b: b / (a * a + b * b),
        lambda m, y, a, b: -a / (a * a + b * b),
    ),
    samples=((0.5, 2.0), ((-2.0, 0.0, 3.0, -0.25), (-1.0, 4.0, 0.0, -100.0))),
    edges=(0.0,),
)

"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from gradproof.ops._op import ANY, op

_COMPLEX = ((0.5 - 1.25j, -2.0 + 0.125j, 3.0 + 0.75j),)
_ANY = ((0.5,), ((-2.0, 3.0, 0.0078125, -8.0),), _COMPLEX)

op("sinh", slopes=(lambda m, y, x: m.cosh(x),), samples=_ANY, kinds=ANY)
op("cosh", slopes=(lambda m, y, x: m.sinh(x),), samples=_ANY, kinds=ANY)
op("tanh", slopes=(lambda m, y, x: 1 - y * y,), samples=_ANY, kinds=ANY)
op("asinh", slopes=(lambda m, y, x: 1 / m.sqrt(1 + x * x),), samples=_ANY, kinds=ANY)
op(
    "acosh",
    slopes=(lambda m, y, x: 1 / (m.sqrt(x - 1) * m.sqrt(x + 1)),),
    samples=((1.5,), ((7.0, 1.0078125, 900.0),), _COMPLEX),
    edges=(1.0,),
    kinds=ANY,
)
op(
    "atanh",
    slopes=(lambda m, y, x: 1 / ((1 - x) * (1 + x)),),
    samples=((0.5,), ((-0.875, 0.984375, 0.0078125),), _COMPLEX),
    edges=(-1.0, 1.0),
    kinds=ANY,
)

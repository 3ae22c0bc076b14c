"""Exponentials, logarithms, roots and the functions of logistic regression."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import ANY, op

_COMPLEX = ((0.5 - 1.25j, -2.0 + 0.125j, 3.0 + 0.75j),)
_ANY = ((0.5,), ((-2.0, 3.0, 0.0078125, -8.0),), _COMPLEX)
_REAL = ((0.5,), ((-2.0, 3.0, 0.0078125, -8.0),), ((10.0, -40.0, 0.0),))
_POSITIVE = ((0.5,), ((7.0, 1.25, 0.0078125, 900.0),), _COMPLEX)
_ABOVE_MINUS_ONE = ((0.5,), ((-0.875, 100.0, 0.0009765625),), _COMPLEX)

op("exp", slopes=(lambda m, y, x: y,), samples=_ANY, kinds=ANY)
op(
    "exp2",
    forward=lambda m, x: m.exp(m.times(x, constant="ln(2)")),
    slopes=(lambda m, y, x: m.times(y, constant="ln(2)"),),
    samples=_ANY,
    kinds=ANY,
)
op("expm1", slopes=(lambda m, y, x: m.exp(x),), samples=_ANY, kinds=ANY)
op("log", slopes=(lambda m, y, x: 1 / x,), samples=_POSITIVE, edges=(0.0,), kinds=ANY)
op("log1p", slopes=(lambda m, y, x: 1 / (1 + x),), samples=_ABOVE_MINUS_ONE, edges=(-1.0,), kinds=ANY)


def _logarithm(name: str, constant: str) -> None:
    def slope(m: Any, y: Any, x: Any) -> Any:
        return m.times(1 / x, constant=constant)

    def forward(m: Any, x: Any) -> Any:
        return m.times(m.log(x), constant=constant)

    op(name, forward=forward, slopes=(slope,), samples=_POSITIVE, edges=(0.0,), kinds=ANY)


_logarithm("log2", "1/ln(2)")
_logarithm("log10", "1/ln(10)")

op("sqrt", slopes=(lambda m, y, x: 1 / (2 * y),), samples=_POSITIVE, edges=(0.0,), kinds=ANY)
op("rsqrt", slopes=(lambda m, y, x: -y / (2 * x),), samples=_POSITIVE, edges=(0.0,), kinds=ANY)
op(
    "cbrt",
    slopes=(lambda m, y, x: 1 / (3 * y * y),),
    samples=((0.5,), ((7.0, -1.25, 0.0078125, -900.0),)),
    edges=(0.0,),
)

# The slope is a product of two values that keep their digits in both tails, not y * (1 - y).
op("sigmoid", slopes=(lambda m, y, x: y * m.sigmoid(-x),), samples=_REAL, kinds=ANY)
op("softplus", slopes=(lambda m, y, x: m.sigmoid(x),), samples=_REAL)
op(
    "log_sigmoid",
    forward=lambda m, x: -m.softplus(-x),
    slopes=(lambda m, y, x: m.sigmoid(-x),),
    samples=_REAL,
)
op(
    "logaddexp",
    slopes=(lambda m, y, a, b: m.sigmoid(a - b), lambda m, y, a, b: m.sigmoid(b - a)),
    samples=((0.5, -2.0), ((3.0, 3.0, 100.0), (3.0, -40.0, 99.5))),
)

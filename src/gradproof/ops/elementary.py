"""Exponentials, logarithms and roots."""

from __future__ import annotations

from gradproof.ops._op import op

_ANY = ((0.5,), ((-2.0, 3.0),))
_POSITIVE = ((0.5,), ((7.0, 1.25),))

op("exp", slopes=(lambda m, y, x: y,), samples=_ANY)
op("log", slopes=(lambda m, y, x: 1 / x,), samples=_POSITIVE, edges=(0.0,))
op("sqrt", slopes=(lambda m, y, x: 1 / (2 * y),), samples=_POSITIVE, edges=(0.0,))
op("tanh", slopes=(lambda m, y, x: 1 - y * y,), samples=_ANY)

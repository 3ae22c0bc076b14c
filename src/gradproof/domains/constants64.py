"""Irrational constants as float64 balls."""

from __future__ import annotations

from functools import cache

from gradproof.domains.ball import float_ball
from gradproof.domains.ball_elementary import CONSTANTS
from gradproof.domains.ball_precise import precision

BITS = 80  # the radius is then half an ulp of the midpoint, and hardly more


@cache
def constant_ball(name: str) -> tuple[float, float]:
    """Midpoint and radius of the constant that the op `times` knows by this name."""
    with precision(BITS):
        return float_ball(CONSTANTS[name]())

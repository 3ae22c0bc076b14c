"""The proofs behind the float64 functions: what polynomials leave out and lose, and what splits are exact.

Each bound quoted beside a polynomial in the source is proven here in ball arithmetic for the coefficients as
they stand: the difference to the function's own power series is a polynomial, which balls enclose well after
subdivision, plus a tail of the series that is bounded outright.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import pytest
from flint import arb, arb_series, fmpq

from gradproof.domains import erf64, exp64, log64, trig64
from gradproof.domains.rounding64 import UNIT

PIECES = 400


class Proof(NamedTuple):
    """A polynomial, the series it stands for, its interval, and the source's claims in units of 2^-53."""

    coefficients: tuple[float, ...]
    series: Callable[[int], Fraction]
    low: float
    high: float
    power: int  # the claim speaks of the polynomial times x^power
    left_out: float
    horner: float


def _alternating(value: Callable[[int], int]) -> Callable[[int], Fraction]:
    return lambda n: Fraction((-1) ** n, value(n))


PROOFS = {
    "exp": Proof(
        exp64.EXP_POLYNOMIAL, lambda n: Fraction(1, math.factorial(n + 2)), -0.3466, 0.3466, 1, 0.4, 1.6
    ),
    "artanh": Proof(log64.ARTANH_POLYNOMIAL, lambda n: Fraction(1, 2 * n + 3), 0.0, 0.0295, 1, 0.1, 1.2),
    "sin": Proof(
        trig64.SIN_POLYNOMIAL,
        lambda n: Fraction(-((-1) ** n), math.factorial(2 * n + 3)),
        0.0,
        0.6171,
        1,
        0.2,
        1.2,
    ),
    "cos": Proof(
        trig64.COS_POLYNOMIAL, _alternating(lambda n: math.factorial(2 * n + 4)), 0.0, 0.6171, 2, 0.1, 1.2
    ),
    "atan": Proof(
        trig64.ATAN_POLYNOMIAL, lambda n: Fraction(-((-1) ** n), 2 * n + 3), 0.0, 0.1717, 1, 0.1, 2.0
    ),
}
# erf(x)/x = 2/sqrt(pi) times this series in z = x^2.
ERF_SERIES = _alternating(lambda n: math.factorial(n) * (2 * n + 1))


@pytest.fixture(autouse=True)
def _precision() -> Any:
    with flint.ctx.workprec(256):
        yield


def pieces(low: float, high: float) -> Iterator[arb]:
    """Balls that cover the interval."""
    half = (arb(high) - arb(low)) / (2 * PIECES)
    for i in range(PIECES):
        yield arb((arb(low) + (2 * i + 1) * half).mid(), half.upper())


def shifted(coefficients: list[arb], piece: arb) -> list[arb]:
    """The coefficients of the same polynomial around the middle of a piece."""
    return list(flint.arb_poly(coefficients)(flint.arb_poly([piece.mid(), 1])).coeffs())


def polynomial(coefficients: list[arb], piece: arb) -> arb:
    """An enclosure over the piece; around its middle the coefficients no longer cancel each other."""
    step, y = piece - piece.mid(), arb(0)
    for coefficient in reversed(shifted(coefficients, piece)):
        y = y * step + coefficient
    return y


def left_out(
    coefficients: tuple[float, ...],
    series: Callable[[int], Fraction],
    factor: arb,
    low: float,
    high: float,
    power: int,
) -> float:
    """An upper bound of |x^power (polynomial - function)| over the interval, in units of 2^-53.

    The terms of each series shrink by the ratio |x| or faster, so that the tail after 60 of them is below the
    61st / (1 - |x|).
    """
    own = [arb(c) for c in coefficients] + [arb(0)] * 60
    exact = [factor * arb(fmpq(series(n).numerator, series(n).denominator)) for n in range(61)]
    difference = [own[n] - exact[n] for n in range(60)]
    reach = arb(max(abs(low), abs(high)))
    tail = abs(exact[60]) * reach**60 / (1 - reach)
    bounds = [(abs(polynomial(difference, x) * x**power) + tail).abs_upper() for x in pieces(low, high)]
    return float(max(bounds)) / UNIT


def horner_loss(coefficients: tuple[float, ...], low: float, high: float) -> float:
    """The first-order bound of Horner's rounding error relative to the value, in units of 2^-53."""
    reach = max(abs(low), abs(high))
    absolute = sum((2 * j + 1) * abs(c) * reach**j for j, c in enumerate(coefficients))
    exact = [arb(c) for c in coefficients]
    return absolute / float(min(polynomial(exact, x).abs_lower() for x in pieces(low, high)))


@pytest.mark.parametrize("name", PROOFS)
def test_a_polynomial_leaves_out_no_more_than_claimed(name: str) -> None:
    proof = PROOFS[name]
    bound = left_out(proof.coefficients, proof.series, arb(1), proof.low, proof.high, proof.power)
    assert bound <= proof.left_out


@pytest.mark.parametrize("name", PROOFS)
def test_a_polynomial_with_one_wrong_digit_leaves_out_more(name: str) -> None:
    proof = PROOFS[name]
    first, second, *others = proof.coefficients
    planted = (first, second * (1.0 + 1e-9), *others)
    assert left_out(planted, proof.series, arb(1), proof.low, proof.high, proof.power) > proof.left_out


@pytest.mark.parametrize("name", PROOFS)
def test_horner_s_rule_loses_no_more_than_claimed(name: str) -> None:
    proof = PROOFS[name]
    assert horner_loss(proof.coefficients, proof.low, proof.high) <= proof.horner


def test_erf_near_zero_leaves_out_and_loses_no_more_than_claimed() -> None:
    factor = 2 / arb.pi().sqrt()
    assert left_out(erf64.ERF_POLYNOMIAL, ERF_SERIES, factor, 0.0, 0.25, 0) <= 0.3
    assert horner_loss(erf64.ERF_POLYNOMIAL, 0.0, 0.25) <= 1.6


def _scaled_tail(t: arb, length: int) -> arb_series:
    """The power series at t of (1 + 2x) exp(x^2) erfc(x), x = 3 (1 + t) / (1 - t)."""
    with_step = arb_series([t, 1], length)
    x = 3 * (1 + with_step) / (1 - with_step)
    return (1 + 2 * x) * (x * x).exp() * x.erfc()


def test_the_tail_of_erfc_leaves_out_no_more_than_claimed() -> None:
    terms = 40
    old, flint.ctx.cap = flint.ctx.cap, terms + 1
    worst = arb(0)
    own = [arb(c) for c in erf64.TAIL_POLYNOMIAL] + [arb(0)] * (terms - len(erf64.TAIL_POLYNOMIAL))
    for piece in pieces(-1.0, 0.798):
        step = piece - piece.mid()
        there = _scaled_tail(piece.mid(), terms).coeffs()
        here = shifted(own, piece) + [arb(0)] * terms
        # The rest of a Taylor series is its next coefficient, taken over the whole piece, times the power.
        rest = _scaled_tail(piece, terms + 1).coeffs()[terms] * step**terms
        difference = sum(((here[n] - there[n]) * step**n for n in range(terms)), arb(0))
        worst = max(worst, (difference + rest).abs_upper())
    flint.ctx.cap = old
    assert float(worst) / UNIT <= 0.7


def test_the_tail_of_erfc_is_as_steady_as_claimed() -> None:
    own = [arb(c) for c in erf64.TAIL_POLYNOMIAL]
    slope = [n * c for n, c in enumerate(own)][1:]
    for t in pieces(-1.0, 0.798):
        assert polynomial(own, t) > 0.9999 - 2.0**-10
        assert abs(t * polynomial(slope, t)) < 1.4 * polynomial(own, t)
    assert sum((2 * j + 1) * abs(c) for j, c in enumerate(erf64.TAIL_POLYNOMIAL)) <= 5.1 * 0.999


def test_the_parts_of_ln_2_and_of_half_pi_are_short_enough_and_add_up() -> None:
    assert (exp64.LN2_HIGH * 2.0**42).is_integer()
    assert abs(arb.const_log2() - exp64.LN2_HIGH - arb(exp64.LN2_LOW)) < arb(2) ** -97
    assert (trig64.QUARTER_1 * 2.0**35).is_integer()
    assert (trig64.QUARTER_2 * 2.0**71).is_integer()
    assert trig64.QUARTER_2 < 2.0**-35
    assert trig64.QUARTER_3 < 2.0**-71
    parts = arb(trig64.QUARTER_1) + trig64.QUARTER_2 + trig64.QUARTER_3
    assert abs(arb.pi() / 2 - parts) < arb(2) ** -124
    assert trig64.FARTHEST * 2.0 / math.pi + 1.0 < 2.0**17

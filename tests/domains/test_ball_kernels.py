"""The entrywise kernels on balls: exact points keep their digits, wide balls hold all values inside them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from flint import acb, arb, ctx

from gradproof.domains.ball import ENTRYWISE
from gradproof.domains.ball_parameter import difference
from gradproof.domains.ball_precise import accurate, centred, monotone, precision

BITS = 100
ANY = (-30.3, -2.3, -0.4, 1e-9, 0.3, 1.1, 7.0, 45.0)
POSITIVE = (1e-9, 0.01, 0.3, 1.1, 7.0, 45.0, 300.0)
UNIT = (1e-9, 0.01, 0.3, 0.77, 0.999)
SHAPES = (0.01, 0.3, 1.0, 2.5, 40.0)
ORDERS = (1.01, 2.0, 3.5, 40.0)

_ANY_NAMES = (
    *(
        "sigmoid",
        "softplus",
        "log_sigmoid",
        "cbrt",
        "sinc",
        "erf",
        "erfc",
        "erfcx",
        "ndtr",
        "log_ndtr",
        "dawson",
    ),
    *("expint", "fresnel_sin", "fresnel_cos", "sin_integral", "gamma", "lgamma", "digamma"),
)
GRIDS: dict[str, tuple[tuple[float, ...], ...]] = {
    **dict.fromkeys(_ANY_NAMES, (ANY,)),
    **dict.fromkeys(("exp1", "spence", "cos_integral"), (POSITIVE,)),
    **dict.fromkeys(("erfinv", "ndtri", "erfcinv"), (UNIT,)),
    **dict.fromkeys(("power",), (POSITIVE, (-3.0, -0.5, 0.3, 2.0))),
    **dict.fromkeys(("logaddexp", "hypot", "atan2"), (ANY, ANY)),
    **dict.fromkeys(("xlogy", "xlog1py", "xdivy"), (ANY, POSITIVE)),
    **dict.fromkeys(("igamma", "igammac", "gamma_density", "igamma_da"), (SHAPES, POSITIVE)),
    **dict.fromkeys(("betainc", "beta_density", "betainc_da", "betainc_db"), (SHAPES, SHAPES, UNIT)),
    **dict.fromkeys(("zeta", "zeta_ds"), (ORDERS, POSITIVE)),
}
BESSEL = {
    **dict.fromkeys(("bessel_i", "bessel_i_scaled", "bessel_j"), ANY),
    **dict.fromkeys(("bessel_k", "bessel_k_scaled", "bessel_y"), POSITIVE),
}


def _cases() -> list[Any]:
    plain = [pytest.param(ENTRYWISE[name], grid, {}, id=name) for name, grid in GRIDS.items()]
    return plain + [
        pytest.param(ENTRYWISE[name], (grid,), {"order": order}, id=f"{name}-{order}")
        for name, grid in BESSEL.items()
        for order in (0, 1, 2)
    ]


@pytest.mark.parametrize(("kernel", "grid", "params"), _cases())
def test_exact_points_keep_their_digits(kernel: Any, grid: Any, params: dict[str, Any]) -> None:
    with precision(BITS):
        for point in itertools.product(*grid):
            y = kernel(*map(arb, point), **params)
            assert y.is_finite(), point
            assert y.rel_accuracy_bits() >= BITS - 20, (point, y)


@pytest.mark.parametrize("radius", [2.0**-53, 2.0**-10])
@pytest.mark.parametrize(("kernel", "grid", "params"), _cases())
def test_wide_balls_hold_every_value_inside(
    kernel: Any, grid: Any, params: dict[str, Any], radius: float
) -> None:
    with precision(BITS):
        for point in itertools.product(*grid):
            ball = kernel(*(arb(x, abs(x) * radius) for x in point), **params)
            for corner in itertools.product((-1.0, 0.625), repeat=len(point)):
                inside = (arb(x) + arb(abs(x) * radius) * side for x, side in zip(point, corner))
                assert not ball.is_finite() or ball.overlaps(kernel(*inside, **params)), (point, corner)


@pytest.mark.parametrize(("kernel", "grid", "params"), _cases())
def test_balls_of_one_float64_rounding_stay_small(kernel: Any, grid: Any, params: dict[str, Any]) -> None:
    """The first rung lives from this: half an ulp in must not come out as no information."""
    with precision(BITS):
        for point in itertools.product(*grid):
            ball = kernel(*(arb(x, abs(x) * 2.0**-53) for x in point), **params)
            assert ball.is_finite(), point
            assert ball.rad() <= abs(ball.mid()) * 1e-9 + 1e-9, (point, ball)


def test_a_value_outside_the_domain_is_no_information() -> None:
    outside = {
        "log_ndtr": (arb("nan"),),
        "igamma": (arb(-1), arb(2)),
        "betainc": (arb(1), arb(2), arb(1.5)),
        "zeta": (arb(0.5), arb(1)),
        "power": (arb(-2), arb(0.5)),
        "digamma": (arb(-2),),
        "lgamma": (arb(-3),),
        "polygamma": (arb(0.5), arb(1)),
        "xlogy": (arb(1), arb(-1)),
        "erfinv": (arb(2),),
    }
    with precision(BITS):
        for name, xs in outside.items():
            assert not ENTRYWISE[name](*xs).is_finite(), name


def test_cube_root_of_a_ball_around_zero_holds_both_signs() -> None:
    with precision(BITS):
        y = ENTRYWISE["cbrt"](arb(0, 8))
        assert y.contains(arb(2))
        assert y.contains(arb(-2))
        assert y.rad() < 2.001


@pytest.mark.parametrize(("name", "expected"), [("asin", 1), ("acos", -1), ("atanh", 1)])
def test_complex_inverses_have_the_branches_of_numpy(name: str, expected: int) -> None:
    with precision(BITS):
        on_cut = ENTRYWISE[name](acb(2))
        above = ENTRYWISE[name](acb(arb(2), arb(2) ** -60))
    assert on_cut.imag * expected > 0
    assert abs(on_cut - above) < 1e-6


def test_more_bits_are_spent_where_digits_cancel() -> None:
    with precision(64):
        y = accurate(lambda x: (x.exp() - 1 - x) / (x * x), arb(2) ** -70)
        assert y.rel_accuracy_bits() >= 60
        assert abs(y - arb(0.5)) < 1e-15
    assert not accurate(lambda x: x.log(), arb(-1)).is_finite()


def test_a_centred_kernel_needs_a_slope_that_bounds_the_true_one() -> None:
    """With a slope that is too small the ball misses values: the test above would see it."""
    square = centred(lambda x: x * x, lambda x: 2 * x)
    wrong = centred(lambda x: x * x, lambda x: x / 1000)
    wide, end = arb(3, 0.5), arb(3.5)
    assert square(wide).contains(end * end)
    assert not wrong(wide).contains(end * end)


def test_a_monotone_kernel_lies_between_its_ends() -> None:
    y = monotone(lambda x: x * x * x)(arb(2, 1))
    assert y.contains(arb(1))
    assert y.contains(arb(27))
    assert y.rad() < 13.1


def test_the_difference_is_proven_by_its_bound() -> None:
    """exp within 1 of 0 is at most e; a bound that is far too large costs bits, not truth."""
    for bound in (arb(3), arb(10) ** 50):
        with precision(BITS):
            y = difference(lambda z: z.exp(), arb(0), arb(1), bound)
            assert y.contains(arb(1))
            assert y.rel_accuracy_bits() >= BITS - 4


def _fail_at(bits: int) -> None:
    with precision(bits):
        raise ZeroDivisionError(ctx.prec)


def test_the_precision_is_left_as_it_was_also_by_an_error() -> None:
    before = ctx.prec
    with pytest.raises(ZeroDivisionError, match="77"):
        _fail_at(77)
    assert ctx.prec == before


def test_large_arguments_do_not_take_minutes_at_high_precision() -> None:
    """The ball stays as wide as at a moderate precision, and holds the same number."""
    large = arb(10) ** 6
    with precision(1024):
        frugal = ENTRYWISE["igamma"](large, large)
    with precision(256):
        expected = ENTRYWISE["igamma"](large, large)
    assert frugal.overlaps(expected)
    assert float(frugal.rad()) < 1e-60


def test_whole_powers_and_hypotenuses_are_known_of_a_ball_around_zero() -> None:
    small, one = arb(0, 1e-10), arb(1)
    for exponent in range(4):
        y = ENTRYWISE["power"](small, arb(exponent))
        assert y.contains(arb(1e-11) ** exponent) and float(y.abs_upper()) <= 1.001e-10**exponent
    assert ENTRYWISE["power"](small, arb(3), less=1).is_finite()
    assert not ENTRYWISE["power"](small, arb(0.5)).is_finite()
    assert ENTRYWISE["hypot"](small, one).contains(one)
    assert ENTRYWISE["hypot"](small, small).contains(small.upper())


def test_about_holds_all_that_lies_within_the_radius() -> None:
    y = ENTRYWISE["about"](arb(2), arb(0.5))
    assert y.contains(arb(1.5)) and y.contains(arb(2.5)) and not y.contains(arb(2.75))
    z = ENTRYWISE["about"](acb(2, 1), arb(0.5))
    assert z.real.contains(arb(2.5)) and z.imag.contains(arb(0.5)) and not z.imag.contains(arb(1.75))

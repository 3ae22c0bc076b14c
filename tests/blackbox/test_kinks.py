"""Kinks, jumps, infinite slopes and the ends of domains, and their innocent neighbours."""

import math

import numpy as np
import pytest

from gradproof.blackbox import derivative


@pytest.mark.parametrize("weight", [1.0, 1e-3])
def test_the_slopes_of_both_sides_of_a_kink_are_told(weight: float) -> None:
    found = derivative(lambda x: math.exp(x) + weight * abs(x - 1.0), 1.0)
    assert found.status == "kink"
    assert math.isnan(found.value)
    assert abs(found.left - (math.e - weight)) <= found.left_error < weight / 10
    assert abs(found.right - (math.e + weight)) <= found.right_error < weight / 10


def test_a_kink_too_faint_to_be_sure_of_is_not_smoothed_away() -> None:
    found = derivative(lambda x: math.exp(x) + 1e-6 * abs(x - 1.0), 1.0)
    assert found.status in ("kink", "cannot tell") or found.error > 1e-6


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_kink_beside_the_point_is_not_at_the_point(gap: float) -> None:
    found = derivative(lambda x: abs(math.sin(x) - math.sin(1.0)), 1.0 + gap)
    assert found.status == "ok"
    assert abs(found.value - math.cos(1.0 + gap)) <= found.error < 1e-3


@pytest.mark.parametrize("height", [1.0, 1e-4, 1e-8])
def test_a_jump_is_told_with_its_height(height: float) -> None:
    found = derivative(lambda x: math.sin(x) + height * (x > 1.0), 1.0)
    assert found.status == "jump"
    assert f"{height:.3g}" in found.reason


def test_a_point_alone_beside_a_smooth_function_is_a_jump() -> None:
    assert derivative(lambda x: math.cos(x) if x != 1.0 else 2.0, 1.0).status == "jump"


@pytest.mark.parametrize("power", [0.25, 0.5, 0.75])
def test_an_infinite_slope_is_told(power: float) -> None:
    assert derivative(lambda x: math.copysign(abs(x) ** power, x), 0.0).status == "infinite slope"
    assert derivative(lambda x: x**power if x >= 0 else math.nan, 0.0).status == "infinite slope"


def test_a_steep_but_smooth_step_is_no_jump() -> None:
    found = derivative(lambda x: math.tanh((x - 1.0) / 1e-9), 1.0)
    assert found.status == "ok"
    assert abs(found.value - 1e9) <= found.error < 1e5


def test_at_the_end_of_a_domain_the_slope_of_the_inside_is_told() -> None:
    found = derivative(lambda x: x * x + x if x >= 0 else math.nan, 0.0)
    assert found.status == "one-sided"
    assert abs(found.value - 1.0) <= found.error < 1e-9
    assert math.isnan(found.left)
    assert "to the left of the point" in found.reason


def test_a_function_that_raises_outside_its_domain_is_differentiated_inside() -> None:
    found = derivative(math.acos, 1 - 1e-6)
    assert found.status == "ok"
    assert abs(found.value + 1 / math.sqrt(1 - (1 - 1e-6) ** 2)) <= found.error


def test_nothing_is_told_of_an_isolated_point() -> None:
    found = derivative(lambda x: 0.0 if x == 1.0 else math.nan, 1.0)
    assert found.status == "cannot tell"


def test_noise_is_neither_kink_nor_jump() -> None:
    rng = np.random.default_rng(11)
    for level in (1e-12, 1e-8, 1e-4):
        found = derivative(lambda x, level=level: math.exp(x) + level * rng.uniform(-1, 1), 0.5)
        assert found.status == "ok"
        assert abs(found.value - math.exp(0.5)) <= found.error

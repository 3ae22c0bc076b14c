"""Functions that are rounded, printed, quantised or noisy: the slope of the smooth function beneath, or no number."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from gradproof.blackbox import derivative, noisy
from gradproof.blackbox.calls import Calls
from gradproof.blackbox.directions import along_entry
from gradproof.blackbox.explore import Region, informative, is_noise
from gradproof.blackbox.inputs import as_input
from gradproof.blackbox.ladder import LadderLine, ladder
from gradproof.blackbox.staircase import learn_grid
from tests.blackbox.suite import noise


def line_and_wave(x: float) -> float:
    return math.sin(x) + x * x


def line_through(function: Callable[[float], float], x: float) -> LadderLine:
    calls, one = Calls(function), as_input(x, "derivative")
    return along_entry(calls, (one,), 0, 0, calls.first(x))


def test_a_step_that_smaller_ones_contradict_is_left_for_a_smaller_one() -> None:
    line = line_through(lambda x: line_and_wave(x) + 1e-6 * noise(x), 2.0515)
    region = Region((-40, -30, -18, -6, 12), 12, None, 2e-6, True)
    assert noisy._trusted_top(line, region) <= 8.0


def test_a_step_that_only_truncation_sets_apart_is_kept() -> None:
    line = line_through(lambda x: math.sin(x) + 1e-6 * noise(x), 0.9)
    region = Region((-40, -30, -18, -6, 0), 0, None, 2e-6, True)
    assert noisy._trusted_top(line, region) == 0.5  # the step of exponent 0


@pytest.mark.parametrize("x", [-1.0, -0.125])
def test_values_on_a_grid_at_powers_of_two_only_are_not_rounded(x: float) -> None:
    line = line_through(lambda x: max(float(x), 0.0), x)
    assert not learn_grid(line, ladder(line, [-40, -3, 1, 2, 3, 4, 5]))
    assert line.grid is None


def test_noise_stays_and_structure_falls_with_the_step() -> None:
    exponents = {-42, -30, -18, -6}
    for function, expected in ((lambda x: x + 1e-6 * noise(x), True), (abs, False), (math.cbrt, False)):
        assert is_noise(informative(line_through(function, 0.0), exponents)) is expected


@pytest.mark.parametrize("x", [2.0515, -1.3, 0.7])
@pytest.mark.parametrize("places", [3, 4, 6])
def test_steps_so_large_that_the_wave_is_lost_are_not_used(x: float, places: int) -> None:
    found = derivative(lambda x: round(line_and_wave(x), places), x)
    truth = math.cos(x) + 2 * x
    assert found.status == "ok"
    assert abs(found.value - truth) <= found.error
    assert abs(found.value - truth) < 2e-2 * abs(truth)


@pytest.mark.parametrize("level", [1e-10, 1e-6, 1e-4])
def test_noise_does_not_drive_the_steps_beyond_the_scale_of_the_function(level: float) -> None:
    found = derivative(lambda x: line_and_wave(x) + level * noise(x), 2.0515)
    truth = math.cos(2.0515) + 4.103
    assert abs(found.value - truth) <= found.error < 1e-2


def test_structure_at_large_steps_is_not_counted_as_noise_of_a_grid() -> None:
    for x in np.linspace(-3.9, 4.1, 21).tolist():
        found = derivative(lambda x: round(line_and_wave(x), 2), x)
        assert found.status == "cannot tell" or abs(found.value - math.cos(x) - 2 * x) <= found.error, x


SEEN: dict[str, Callable[[float], float]] = {
    "printed": lambda y: float(f"{y:.5g}"),
    "a grid": lambda y: round(y / 7e-5) * 7e-5,
    "from below": lambda y: math.floor(y / 2e-4) * 2e-4,
    "half precision": lambda y: float(np.float16(y)),
}


@pytest.mark.parametrize("way", SEEN)
def test_values_on_a_grid_give_the_slope_beneath(way: str) -> None:
    found = derivative(lambda x: SEEN[way](math.exp(math.sin(x))), 0.9)
    truth = math.cos(0.9) * math.exp(math.sin(0.9))
    assert found.status == "ok"
    assert abs(found.value - truth) <= found.error < 0.1 * truth


def test_calls_are_within_the_budget_of_the_peers() -> None:
    for x in np.linspace(0.3, 3.0, 10):
        found = derivative(lambda x: math.sin(x) + 1e-5 * noise(x), float(x))
        assert found.evaluations <= noisy.BUDGET + 2


@pytest.mark.parametrize("spacing", [0.7, 0.4])
def test_of_a_staircase_of_few_steps_nothing_is_told(spacing: float) -> None:
    for x in np.linspace(0.2, 2.9, 12):
        found = derivative(lambda x: round(math.sin(x) / spacing) * spacing, float(x))
        assert found.status in ("cannot tell", "jump") or abs(found.value - math.cos(x)) <= found.error


def test_floats_that_go_up_in_steps_are_flat_or_rounded_and_nobody_knows() -> None:
    found = derivative(lambda x: float(np.floor(x)), 3.5)
    assert found.status == "cannot tell"
    assert "in steps" in found.reason


def test_whole_numbers_are_steps_by_their_own_word() -> None:
    found = derivative(math.floor, 3.5)
    assert found.status == "ok"
    assert abs(found.value) <= found.error < 1e-3


def test_a_flat_place_beside_a_slope_is_flat_at_round_numbers_too() -> None:
    # At powers of two the values of a rectifier lie on a grid by accident; between them they do not.
    for x in (-1.0, -0.125, -0.3):
        found = derivative(lambda x: max(float(x), 0.0), x)
        assert found.status == "ok"
        assert abs(found.value) <= found.error < 1e-3


def test_noise_larger_than_the_function_is_not_told_as_a_slope() -> None:
    rng = np.random.default_rng(5)
    for x in (0.3, 1.1, 2.0):
        found = derivative(lambda x: math.sin(x) + 5 * rng.normal(), x)
        assert found.status == "cannot tell" or abs(found.value - math.cos(x)) <= found.error


def test_a_kink_is_not_taken_for_noise() -> None:
    found = derivative(lambda x: abs(x) + 1e-3 * x, 0.0)
    assert found.status == "kink"


def test_the_fit_says_how_it_was_found() -> None:
    found = derivative(lambda x: math.exp(x) + 1e-5 * noise(x), 0.5)
    assert "fitted with degree" in found.reason
    assert "noise" in found.reason


def test_a_saturated_function_that_was_printed_has_no_slope_of_zero_with_a_tiny_bar() -> None:
    """Its values around the point are all the same, and those further out lie on the grid of three digits."""
    found = derivative(lambda x: float(f"{math.tanh(x + 3.0):.3g}"), 0.65)
    true = 1.0 / math.cosh(3.65) ** 2
    assert found.status == "cannot tell" or abs(found.value - true) <= found.error


@pytest.mark.parametrize("length", [0.3, 5.0, 300.0])
def test_rounded_values_far_from_zero_are_asked_on_the_length_on_which_they_change(length: float) -> None:
    """Steps are first taken as shares of x; beside a date in days the function changes on a millionth of it."""
    at = 2460876.0
    found = derivative(lambda x: round(math.sin((x - at) / length + 1), 5), at)
    truth = math.cos(1.0) / length
    assert found.status == "ok"
    assert abs(found.value - truth) <= found.error < 0.05 * truth


def test_counts_of_the_same_random_points_have_a_bar_that_reaches_the_slope() -> None:
    """Neighbouring values share most of their noise, so that what a polynomial leaves over understates it."""
    share = lambda x: 1 / (1 + math.exp(-x))
    counted = lambda drawn: lambda x: float(np.searchsorted(drawn, share(x)) / len(drawn))
    held, told = [], 0
    for seed in range(40):
        at = -1.5 + 0.075 * seed
        found = derivative(counted(np.sort(np.random.default_rng(seed).random(20000))), at)
        told += found.status == "ok"
        truth = share(at) * (1 - share(at))
        held.append(found.status == "cannot tell" or abs(found.value - truth) <= found.error)
    assert np.mean(held) >= 0.95
    assert told >= 15

"""The promise of the black box on the functions of the benchmark: bars that hold, no number made up."""

import numpy as np
import pytest

from gradproof.blackbox import derivative, extrapolate
from tests.blackbox.suite import FAMILIES, Function, functions, holds, points, random_functions

N_RANDOM = 250
CALLS_OF_NUMDIFFTOOLS = 31  # with its defaults, for every function


@pytest.fixture(scope="module")
def random_ones() -> tuple[Function, ...]:
    return random_functions(5, N_RANDOM)


@pytest.mark.parametrize("function", functions(), ids=lambda function: f"{function.family}: {function.name}")
def test_the_status_is_right_and_the_bar_reaches_the_true_slope(function: Function) -> None:
    found = derivative(function.call, function.x)
    assert found.status in function.statuses, repr(found)
    assert holds(function, found), repr(found)


def test_the_chosen_functions_are_answered_sharply_and_cheaply() -> None:
    answers = [(row, derivative(row.call, row.x)) for row in functions()]
    errors = [
        abs(found.value - row.slope) / (abs(row.slope) or 1.0)
        for row, found in answers
        if row.slope is not None and not row.hopeless
    ]
    assert np.isfinite(errors).all()
    assert np.median(errors) < 1e-13
    assert np.quantile(errors, 0.95) < 1e-4
    assert np.mean([found.evaluations for _, found in answers]) <= CALLS_OF_NUMDIFFTOOLS


def test_bars_hold_for_99_percent_of_random_functions(random_ones: tuple[Function, ...]) -> None:
    answers = [derivative(row.call, row.x) for row in random_ones]
    true = [holds(row, found) for row, found in zip(random_ones, answers)]
    assert np.mean(true) >= 0.99, [row.name for row, fine in zip(random_ones, true) if not fine]
    assert np.mean([found.status == "cannot tell" for found in answers]) < 0.05
    assert np.mean([found.evaluations for found in answers]) <= CALLS_OF_NUMDIFFTOOLS


@pytest.mark.parametrize("constant", ["NOISE_SAFETY", "FEW_SAMPLES"])
def test_bars_that_are_too_narrow_are_noticed(
    constant: str, random_ones: tuple[Function, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ((1000, 0.0),) if constant == "FEW_SAMPLES" else 0.0
    monkeypatch.setattr(extrapolate, constant, broken)
    true = [holds(row, derivative(row.call, row.x)) for row in random_ones]
    assert np.mean(true) < 0.99


def test_bars_hold_for_99_percent_of_the_families_at_no_more_calls_than_numdifftools() -> None:
    rows = tuple(points(7, 3))
    assert len(FAMILIES) >= 40
    answers = [derivative(row.call, row.x) for row in rows]
    true = [holds(row, found) for row, found in zip(rows, answers)]
    assert np.mean(true) >= 0.98, [row.name for row, fine in zip(rows, true) if not fine]
    assert np.mean([found.evaluations for found in answers]) <= CALLS_OF_NUMDIFFTOOLS


@pytest.mark.nightly
def test_bars_hold_for_99_percent_of_many_points_of_the_families() -> None:
    rows = tuple(points(8, 60))
    assert np.mean([holds(row, derivative(row.call, row.x)) for row in rows]) >= 0.99


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 104))
def test_bars_hold_for_99_percent_of_many_random_functions(seed: int) -> None:
    rows = random_functions(seed, 1500)
    assert np.mean([holds(row, derivative(row.call, row.x)) for row in rows]) >= 0.99

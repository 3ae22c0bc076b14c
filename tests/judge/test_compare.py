"""Comparing a gradient with an enclosure: what is proven within, proven beyond, and not decided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.engine.refine import Enclosure
from gradproof.ir import types
from gradproof.judge.compare import Comparison, compare
from gradproof.options import Options


def _compare(
    observed: Any,
    mid: Any,
    rad: Any = 0.0,
    dtype: str = "float64",
    sizes: Any = None,
    options: Options | None = None,
) -> Comparison:
    mid = np.asarray(mid, np.float64)
    reference = Enclosure(mid, np.broadcast_to(np.asarray(rad, np.float64), mid.shape))
    value = np.asarray(observed).astype(types.numpy_dtype(dtype))
    return compare(
        value, reference, dtype, options or Options(), None if sizes is None else np.asarray(sizes)
    )


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float64", 1e-8), ("float32", 1e-3), ("float16", 3e-2), ("bfloat16", 3e-2)]
)
def test_the_tolerance_of_the_dtype_is_the_line(dtype: str, tolerance: float) -> None:
    exact = np.array([64.0, 128.0])  # held exactly by every dtype
    assert _compare(exact, exact * (1 + 0.9 * tolerance), dtype=dtype).outcome == "within"
    assert _compare(exact, exact * (1 + 1.1 * tolerance), dtype=dtype).outcome == "beyond"


def test_an_enclosure_across_the_line_decides_nothing() -> None:
    assert _compare(1.0, 1.0 + 1e-8, 5e-9).outcome == "undecided"


def test_both_outcomes_hold_for_every_number_of_the_enclosure() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        mid, rad = rng.normal(), 10.0 ** rng.uniform(-12, -6)
        observed = mid + rng.normal() * 10.0 ** rng.uniform(-12, -6)
        found = _compare(observed, mid, rad).outcome
        ends = {_compare(observed, mid + s * rad).outcome for s in (-1.0, -0.5, 0.0, 0.5, 1.0)}
        assert found == "undecided" or ends == {found}


def test_small_entries_are_measured_against_a_share_of_the_largest() -> None:
    assert _compare([1.0, 1e-9 + 1e-12], [1.0, 1e-9]).outcome == "within"
    assert _compare([1.0, 1e-9 + 1e-10], [1.0, 1e-9]).outcome == "beyond"
    strict = Options(share_of_largest=0.0)
    assert _compare([1.0, 1e-9 + 1e-12], [1.0, 1e-9], options=strict).outcome == "beyond"


def test_the_worst_entry_and_its_digits_are_told() -> None:
    found = _compare([[1.0, 2.0], [3.0, 4.004]], [[1.0, 2.0], [3.0, 4.0]])
    assert found.worst == (1, 1)
    assert found.relative_error == pytest.approx(1e-3, rel=1e-9)
    assert found.digits == pytest.approx(3.0)
    assert found.digits_possible == pytest.approx(15.95, abs=0.01)


def test_numbers_that_are_none_are_told_only_where_the_truth_is_known() -> None:
    assert _compare([1.0, np.nan], [1.0, 2.0]).outcome == "nonfinite"
    assert _compare([np.inf, 1.0], [1.0, 1.0]).outcome == "nonfinite"
    assert _compare([1.0, np.nan], [1.0, 0.0], [0.0, np.inf]).outcome == "unbounded"
    assert _compare([1.0, 1.0], [1.0, 0.0], [0.0, np.inf]).outcome == "unbounded"


def test_a_true_zero_cannot_be_found_to_a_relative_precision() -> None:
    assert _compare(1e-17, 0.0, 1e-40).outcome == "beyond"
    assert _compare(1e-17, 0.0, 1e-40, sizes=1.0).outcome == "within"
    assert _compare(1e-6, 0.0, 1e-40, sizes=1.0).outcome == "beyond"


@pytest.mark.parametrize("dtype", types.REAL_BITS)
def test_a_zero_may_consist_of_roundings_of_its_terms_and_of_no_more(dtype: str) -> None:
    unit = types.unit_roundoff(dtype)
    assert _compare(4 * unit, 0.0, 1e-40, dtype, sizes=1.0).outcome == "within"
    assert _compare(0.5, 0.0, 1e-40, dtype, sizes=1.0).outcome == "beyond"


def test_terms_excuse_nothing_that_is_proven_not_to_be_zero() -> None:
    assert _compare(1.0, -2e-37, 1e-53, sizes=1e16).outcome == "beyond"


def test_terms_excuse_nothing_that_is_not_known_to_be_zero() -> None:
    assert _compare(1e-17, 0.0, 1e-16, sizes=1.0).outcome == "undecided"


def test_noise_beside_a_value_that_may_be_zero_asks_for_more_digits() -> None:
    assert _compare(1e-12, 0.0, 1e-15, sizes=1.0).outcome == "undecided"
    assert _compare(1e-12, 1e-14, 1e-15, sizes=1.0).outcome == "beyond"


@pytest.mark.parametrize("dtype", [one for one in types.REAL_BITS if one != "float16"])
def test_what_lies_below_the_smallest_number_of_the_dtype_is_found_by_zero(dtype: str) -> None:
    smallest = types.SMALLEST[dtype]
    assert _compare(0.0, 0.5 * smallest, 0.1 * smallest, dtype).outcome == "within"
    assert _compare(0.0, 8.0 * smallest, 0.0, dtype).outcome == "beyond"


def test_a_gradient_that_is_all_lost_below_the_range_of_float16_is_not_found() -> None:
    smallest = types.SMALLEST["float16"]
    assert _compare(0.0, 0.5 * smallest, 0.1 * smallest, "float16").outcome == "beyond"
    assert _compare(0.0, 0.0, 0.0, "float16").outcome == "within"
    beside = np.array([0.0, 4 * smallest]), np.array([0.4 * smallest, 4 * smallest])
    assert _compare(*beside, dtype="float16").outcome == "within"


def test_nothing_compares_with_nothing() -> None:
    assert _compare(np.zeros((0, 2)), np.zeros((0, 2))).outcome == "within"
    assert _compare(np.zeros((0, 2), complex), np.zeros((0, 2)), dtype="complex128").outcome == "within"


def test_complex_gradients_are_compared_as_numbers_of_the_plane() -> None:
    reference = Enclosure(np.array([1.0 + 1.0j]), np.zeros(1))
    assert compare(np.array([1.0 + 1.0j]), reference, "complex128", Options()).outcome == "within"
    assert compare(np.array([1.0 - 1.0j]), reference, "complex128", Options()).outcome == "beyond"

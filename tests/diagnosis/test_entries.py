"""Right digits by entry, and the table of a large gradient."""

import math

import numpy as np
import pytest

from gradproof.diagnosis.entries import digits_possible, entry_digits, tabulate


def digits(observed: list[float], reference: list[float], radius: float = 0.0) -> list[float]:
    found = entry_digits(np.array(observed), np.array(reference), np.full(len(reference), radius), 15.9)
    return [round(value, 6) for value in found.tolist()]


def test_digits_are_the_logarithm_of_the_relative_error() -> None:
    assert digits([1.001, 1.0], [1.0, 1.0]) == [3.0, 15.9]


def test_a_small_entry_is_measured_against_a_thousandth_of_the_largest() -> None:
    assert digits([1.0, 2e-9], [1.0, 1e-9]) == [15.9, 6.0]


def test_the_radius_of_the_reference_is_not_trusted() -> None:
    assert digits([1.0], [1.0], radius=1e-4) == [4.0]


def test_a_nonfinite_entry_has_no_right_digit() -> None:
    assert digits([math.nan, math.inf, 1.0], [1.0, 1.0, 1.0]) == [0.0, 0.0, 15.9]


def test_an_unknown_reference_gives_no_number_and_spoils_no_other() -> None:
    first, second = digits([1.0, 1.0], [math.nan, 1.0])
    assert math.isnan(first)
    assert second == 15.9


def test_beside_a_gradient_of_zeros_anything_else_is_wrong() -> None:
    assert digits([0.0, 1e-300], [0.0, 0.0]) == [15.9, 0.0]


@pytest.mark.parametrize(
    ("dtype", "expected"), [("float32", 7.22), ("float64", 15.95), ("bfloat16", 2.4), ("float16", 3.3)]
)
def test_the_digits_a_dtype_holds(dtype: str, expected: float) -> None:
    assert digits_possible(dtype) == pytest.approx(expected, abs=0.02)


def test_a_dtype_without_real_numbers_holds_none() -> None:
    assert digits_possible("int32") is None


def test_the_table_counts_every_entry_once_and_lists_the_worst_first() -> None:
    reference = np.ones((5, 400))
    observed = reference.copy()
    observed[1, 3], observed[4, 399], observed[0, 0] = 1.1, np.nan, 1.001
    table = tabulate(observed, reference, None, 15.9)
    assert table.count == 2000
    assert table.not_finite + sum(table.histogram) == 2000
    # Rounding keeps 1.1 and 1.001 a little off the whole digit, on one side or the other.
    assert [entry.index for entry in table.worst[:3]] == [(4, 399), (1, 3), (0, 0)]
    assert len(table.worst) == 10
    assert table.reference_norm == pytest.approx(math.sqrt(2000))


def test_norms_of_half_precision_do_not_overflow() -> None:
    large = np.full(100, 60000.0, np.float16)
    assert tabulate(large, large.astype(float), None, 3.3).observed_norm == pytest.approx(600000.0)


def test_complex_gradients_are_compared_as_numbers_of_the_plane() -> None:
    table = tabulate(np.array([1j, 1.0]), np.array([1j, 1j]), None, 15.9)
    assert [entry.digits for entry in table.worst] == [0.0, 15.9]


def test_an_empty_gradient_has_an_empty_table() -> None:
    table = tabulate(np.zeros(0), np.zeros(0), None, 15.9)
    assert (table.count, table.worst, sum(table.histogram)) == (0, (), 0)


def test_a_scalar_has_one_entry_without_index() -> None:
    [entry] = tabulate(np.array(2.0), np.array(2.0), np.array(0.0), 15.9).worst
    assert entry.index == ()

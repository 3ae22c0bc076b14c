"""What an op is worth in exact arithmetic, also beyond the range of every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.diagnosis.exact_entry import Exact, exact_entry
from gradproof.diagnosis.flow import Place
from gradproof.ir.program import Builder


def _exact(op: str, *values: Any, index: tuple[int, ...] = ()) -> Exact | None:
    builder = Builder()
    inputs = [builder.input(np.asarray(value)) for value in values]
    shape = np.broadcast_shapes(*(np.shape(value) for value in values))
    program = builder.build([builder.add(op, *inputs, dtype="float32", shape=shape)])
    return exact_entry(program, Place(program.outputs[0], index))


@pytest.mark.parametrize(
    ("value", "words", "is_beyond", "is_below"),
    [
        (100.0, "2.7e43", True, False),
        (-120.0, "7.7e-53", False, True),
        (2.0, "7.4", False, False),
        (11.5, "99000", False, False),
    ],
)
def test_the_size_of_an_exponential_is_told(
    value: float, words: str, is_beyond: bool, is_below: bool
) -> None:
    exact = _exact("exp", np.array([1.0, value]), index=(1,))
    assert exact is not None
    assert (exact.words, exact.is_beyond("float32"), exact.is_below("float32")) == (
        words,
        is_beyond,
        is_below,
    )


def test_a_size_beyond_float64_is_told_by_its_exponent() -> None:
    exact = _exact("exp", np.float64(1e9))
    assert exact is not None
    assert exact.words == "about 10^4.3e+08"


def test_a_division_by_zero_has_no_value() -> None:
    exact = _exact("div", 1.0, 0.0)
    assert exact is not None
    assert not exact.is_defined


def test_a_zero_is_known_to_be_zero() -> None:
    exact = _exact("sub", 1.5, 1.5)
    assert exact is not None
    assert exact.is_zero
    assert not exact.is_below("float32")


def test_negative_numbers_keep_their_sign() -> None:
    exact = _exact("mul", -3.0, 1e300)
    assert exact is not None
    assert exact.words == "-3.0e300"

"""One function, four frameworks: the same verdict, the same causes, the same reference."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("tensorflow")
pytest.importorskip("torch")
pytest.importorskip("jax")

from tests.frontends.everywhere import APART, FRAMEWORKS, FUNCTIONS, answer

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

# TensorFlow's eager mode returns the slope of the branch that was taken, where the others return NaN.
THEY_DIFFER = {"masked root"}
LAST_DIGIT = 4e-16  # of float64


@pytest.mark.parametrize("name", FUNCTIONS)
def test_four_frameworks_one_answer(name):
    answers = {framework: answer(framework, name) for framework in FRAMEWORKS}
    first = answers["NumPy"]
    for framework, one in answers.items():
        assert (one.reference is None) == (first.reference is None), framework
        if one.reference is not None:
            np.testing.assert_allclose(
                one.reference, first.reference, rtol=LAST_DIGIT, atol=0, err_msg=framework
            )
        if name not in THEY_DIFFER:
            assert (one.verdict, one.causes) == (first.verdict, first.causes), framework


def test_where_they_differ_the_numbers_do():
    returned = {framework: answer(framework, "masked root") for framework in FRAMEWORKS}
    assert {one.verdict for one in returned.values()} == {"correct", "nonfinite"}
    assert returned["TensorFlow"].observed == (1.0, 0.5)


@pytest.mark.parametrize("name", APART)
def test_where_frameworks_are_apart_the_reference_is_not(name):
    answers = {framework: answer(framework, name) for framework in FRAMEWORKS}
    assert len({one.observed for one in answers.values()}) > 1
    first = answers["NumPy"].reference
    for framework, one in answers.items():
        expected = np.conj(first) if framework == "JAX" and first is not None else first
        assert (one.reference is None) == (expected is None), framework
        if expected is not None:
            np.testing.assert_allclose(one.reference, expected, rtol=LAST_DIGIT, atol=0, err_msg=framework)


def test_there_are_forty_of_them():
    assert len(FUNCTIONS) >= 40

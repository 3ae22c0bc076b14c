"""Traced arrays behave as NumPy's do, also where memory is shared or changed."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

from gradproof.judge.verdict import Verdict
from gradproof.tape import Array, GradientTape, Variable, array


def test_a_plain_array_added_to_in_place_becomes_traced() -> None:
    x, total = Variable([1.0, 2.0]), np.zeros(2)
    with GradientTape() as tape:
        for k in range(3):
            total += x**k
        y = np.sum(total)
    np.testing.assert_array_equal(tape.gradient(y, x), [0 + 1 + 2 * 1.0, 0 + 1 + 2 * 2.0])


def test_out_takes_over_the_result() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        result = np.zeros_like(x)
        returned = np.multiply(x, x, out=result)
        y = np.sum(result)
    assert returned is result
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


def test_out_of_a_reduction() -> None:
    x = Variable([[1.0, 2.0], [3.0, 4.0]])
    with GradientTape() as tape:
        result = np.zeros_like(x[0])
        np.sum(x**2, axis=0, out=result)
        y = np.sum(result * np.array([1.0, 10.0]))
    np.testing.assert_array_equal(tape.gradient(y, x), [[2.0, 40.0], [6.0, 80.0]])


def test_in_place_operations_keep_the_dtype_of_the_array() -> None:
    x = Variable(np.array([1.0, 2.0], np.float32))
    with GradientTape() as tape:
        y = x * 1
        y *= np.array([0.1, 0.2])
    plain = np.array([1.0, 2.0], np.float32)
    plain *= np.array([0.1, 0.2])
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y.numpy(), plain)
    gradient = tape.gradient(y, x)
    assert gradient.dtype == np.float32
    assert gradient.verdict is Verdict.CORRECT


def _views(x: Any) -> Any:
    y = x * 1.0
    column, flat, turned = y[:, 0], y.reshape(-1), y.T
    column[1] = 10.0
    flat[0] = x[0, 1] ** 2
    turned[1, 0] += 5.0
    y[1, 1] = x[0, 0]
    return y * 2 + turned.T + flat.reshape(2, 2) + column


def test_views_share_what_is_written() -> None:
    point = np.array([[1.0, 2.0], [3.0, 4.0]])
    with GradientTape() as tape:
        x = tape.watch(point)
        y = _views(x)
        total = np.sum(y)
    np.testing.assert_array_equal(y.numpy(), _views(point))
    gradient = tape.gradient(total, x)
    steps = np.eye(4).reshape(4, 2, 2) * 1e-6
    slopes = [(_views(point + step) - _views(point - step)).sum() / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, np.reshape(slopes, (2, 2)), atol=1e-6)
    assert gradient.verdict is Verdict.CORRECT


def test_copies_share_nothing() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = x * 1
        z = y.copy()
        y[0] = 7.0
        total = np.sum(z**2)
    np.testing.assert_array_equal(tape.gradient(total, x), [2.0, 4.0])


def test_what_is_handed_out_is_a_copy() -> None:
    x = array([1.0, 2.0])
    np.asarray(x)[0] = 9.0
    x.numpy()[0] = 9.0
    assert x[0] == 1.0


def test_results_look_like_arrays() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]])
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((2, 2), 2, 4, np.float64, 2)
    assert [row.tolist() for row in x] == [[1.0, 2.0], [3.0, 4.0]]
    assert repr(x).startswith("Array([[1., 2.]")
    assert f"{x[0, 0]:.1f} {x[0, 1]}" == "1.0 2.0"
    assert np.shape(x) == (2, 2)
    assert np.allclose(x, x.numpy())
    with pytest.raises(TypeError, match="0-d"):
        iter(x[0, 0])


def test_errors_are_numpys_own() -> None:
    x = array([1.0, 2.0])
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(3)
    with pytest.raises(IndexError):
        x[5]


def test_a_python_condition_is_part_of_the_proof() -> None:
    """At the point where the condition switches other code would run, so nothing is claimed there."""
    x = Variable(0.0)
    with GradientTape() as tape:
        y = x * 2 if x >= 0 else x * 3
    at_switch = tape.gradient(y, x)
    assert at_switch.verdict is Verdict.UNVERIFIED
    assert at_switch.error == np.inf
    x.assign(1.0)
    with GradientTape() as tape:
        y = x * 2 if x >= 0 else x * 3
    assert tape.gradient(y, x).verdict is Verdict.CORRECT


def test_kinks_are_undefined_and_their_error_is_unknown_only_there() -> None:
    x = Variable([1.0, 0.0, -2.0])
    with GradientTape() as tape:
        y = np.abs(x)
    gradient = tape.gradient(y, x)
    assert gradient.verdict is Verdict.UNDEFINED
    assert np.isinf(gradient.error).tolist() == [False, True, False]


def test_a_lost_digit_is_measured() -> None:
    x = Variable(np.float32(1.0))
    with GradientTape() as tape:
        y = x * 1e10 + 1
        z = (y - 1e10) ** 2
    gradient = tape.gradient(z, x)
    assert gradient.verdict is Verdict.INACCURATE
    assert float(gradient.error) == pytest.approx(2e10)
    assert gradient.digits == 0.0
    assert "proven     2.0e10" in gradient.explain()


def test_arrays_and_variables_can_be_copied_and_pickled() -> None:
    w = Variable([1.0, 2.0], name="w")
    again = pickle.loads(pickle.dumps(w))
    assert isinstance(again, Variable)
    assert again.name == "w"
    np.testing.assert_array_equal(again.numpy(), [1.0, 2.0])
    assert isinstance(copy.deepcopy(array([1.0])), Array)


def test_threads_have_tapes_of_their_own() -> None:
    x = Variable(3.0)
    found: list[Any] = []

    def work() -> None:
        with GradientTape() as tape:
            y = x**2
        found.append(float(tape.gradient(y, x)))

    with GradientTape() as tape:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        y = x**3
    assert found == [6.0]
    assert tape.gradient(y, x) == 27.0

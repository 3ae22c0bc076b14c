"""Memory that is used again: never while anybody can still see what is in it, and with NumPy's own values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.tape import GradientTape, Variable
from gradproof.tape.memory import SAME_DTYPE, SMALLEST_BYTES

N = SMALLEST_BYTES // 4


def _work(x: Any) -> Any:
    y = x
    for _ in range(6):
        y = np.tanh(y * 1.1 + 0.1) - 0.5 * y
    return np.sum(y**2)


@pytest.mark.parametrize(
    "ufunc", sorted(SAME_DTYPE, key=lambda ufunc: ufunc.__name__), ids=lambda u: u.__name__
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_results_are_those_of_numpy_bit_for_bit(ufunc: np.ufunc, dtype: type) -> None:
    rng = np.random.default_rng(4)
    points = [rng.uniform(0.1, 2.0, N + 3).astype(dtype) for _ in range(ufunc.nin)]
    with GradientTape() as tape:
        y = ufunc(*tape.watch(points))
    expected = ufunc(*points)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(y.numpy(), expected)


def test_what_is_still_held_is_never_overwritten() -> None:
    x = Variable(np.random.default_rng(1).normal(size=N))
    with GradientTape() as tape:
        kept = np.exp(x)
        part = (x * 3.0)[10:20]
    before, part_before = kept.numpy(), part.numpy()
    for _ in range(4):
        with GradientTape() as other:
            y = _work(x)
        other.gradient(y, x)
    np.testing.assert_array_equal(kept.numpy(), before)
    np.testing.assert_array_equal(part.numpy(), part_before)
    del tape


def test_a_gradient_is_the_same_in_memory_used_before() -> None:
    x = Variable(np.random.default_rng(2).normal(size=N))
    gradients = []
    for _ in range(4):
        with GradientTape() as tape:
            y = _work(x)
        gradients.append(np.array(tape.gradient(y, x)))
        del tape, y
    for gradient in gradients[1:]:
        np.testing.assert_array_equal(gradient, gradients[0])


def test_a_proof_asked_for_late_sees_the_values_of_its_own_tape() -> None:
    x = Variable(np.random.default_rng(3).normal(size=N).astype(np.float32))
    with GradientTape() as tape:
        y = _work(x)
    gradient = tape.gradient(y, x)
    del tape, y
    for _ in range(3):
        with GradientTape() as other:
            z = _work(x * 0.3)
        other.gradient(z, x)
    assert str(gradient.verdict) == "correct"
    assert np.all(gradient.error < 1e-3)

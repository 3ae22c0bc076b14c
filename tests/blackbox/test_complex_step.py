"""The complex step: used where it is safe, refused where a single proof of analyticity fails."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.blackbox import complex_step, derivative

SIN = np.sin(0.8)
COS = np.cos(0.8)


def test_an_analytic_function_is_differentiated_to_the_last_digits() -> None:
    found = derivative(np.sin, 0.8)
    assert "complex step" in found.reason
    assert abs(found.value - COS) <= 2e-16
    assert found.error < 1e-13


TRAPS: dict[str, Callable[[Any], Any]] = {
    "another real part": lambda x: np.sin(x) + 1.0 * (np.imag(x) != 0),
    "no conjugate symmetry": lambda x: np.where(np.imag(x) >= 0, np.sin(x), np.sin(x) + 3 * (x - 0.8)),
    "a slope of its own": lambda x: np.sin(x) + 1e-6 * (x - 0.8),
    "not analytic away from the line, in slope": lambda x: np.sin(x) + 2j * np.imag(x) ** 3,
    "not analytic away from the line, in curvature": lambda x: np.sin(x) + 5 * np.imag(x) ** 2,
    "conjugated": lambda x: np.sin(np.conj(x)),
    "real part only": lambda x: np.sin(np.real(x)) + 0j * x,
    "absolute value": lambda x: np.sin(np.abs(x)),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_function_that_is_not_analytic_is_not_trusted_with_complex_numbers(name: str) -> None:
    found = derivative(lambda x: TRAPS[name](x) if np.iscomplexobj(x) else np.sin(x), 0.8)
    assert "complex step" not in found.reason
    assert abs(found.value - COS) <= found.error


GUARDS = {
    "_agrees_with_differences": "a slope of its own",
    "_cauchy_riemann": "not analytic away from the line, in curvature",
}


@pytest.mark.parametrize("guard", GUARDS)
def test_each_guard_is_needed(guard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complex_step, guard, lambda *arguments: True)
    found = derivative(lambda x: TRAPS[GUARDS[guard]](x) if np.iscomplexobj(x) else np.sin(x), 0.8)
    assert "complex step" in found.reason


def test_a_kink_that_complex_numbers_hide_is_seen() -> None:
    found = derivative(lambda x: np.where(x > 0, x, -x), 0.0)
    assert found.status == "kink"


def test_rounding_inside_widens_the_bar() -> None:
    found = derivative(lambda x: ((x * 1e10 + 1) - 1e10) ** 2, 1.0)
    assert abs(found.value - 2e10) <= found.error
    assert found.error > 1e3


def test_insides_in_complex64_widen_the_bar() -> None:
    function = lambda x: np.exp(np.sin(np.complex64(x))) + 0 * x if np.iscomplexobj(x) else in_float32(x)
    for x in (0.3, 0.7, 1.1, 2.3, 4.1):
        found = derivative(function, x)
        truth = np.cos(x) * np.exp(np.sin(x))
        assert abs(found.value - truth) <= min(found.error, 1e-6 * abs(truth))
        assert found.error > 1e-8


def in_float32(x: float) -> float:
    return float(np.real(np.exp(np.sin(np.complex64(x)))))


def test_insides_in_complex64_that_no_real_value_betrays_widen_the_bar() -> None:
    # The real part is that of float64; only the imaginary one was computed in short numbers.
    def function(x: complex) -> complex:
        if not np.iscomplexobj(x):
            return np.sin(x)
        return np.sin(np.real(x)) + 1j * float(np.cos(np.float32(np.real(x)))) * np.imag(x) - (np.sin(x) * 0)

    for x in (0.3, 0.7, 1.1, 2.3, 4.1):
        found = derivative(function, x)
        assert abs(found.value - np.cos(x)) <= found.error

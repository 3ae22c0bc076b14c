"""Functions of complex numbers on the tape: right where the tape has a gradient, refused by name where not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.judge.verdict import Verdict
from gradproof.tape import GradientTape, Missing
from gradproof.tape.functions import LOWERINGS
from gradproof.tape.functions._kinds import COMPLEX
from gradproof.tape.record import CALL, ancestors

from .complex_cases import complex_cases

RNG = np.random.default_rng(3)
Z = np.array([1 + 2j, 3 - 1j, 0.5 + 1j])
SQUARE = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
STEP = 1e-5

CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "prod": (np.prod, Z),
    "cumprod": (np.cumprod, Z),
    "nanprod": (np.nanprod, Z),
    "multiply.reduce": (np.multiply.reduce, Z),
    "multiply.accumulate": (np.multiply.accumulate, Z),
    "var": (np.var, Z),
    "nanvar": (lambda z: np.nanvar(np.append(z, np.nan)), Z),
    "nanstd": (np.nanstd, Z),
    "the size of a determinant": (lambda a: np.linalg.slogdet(a)[1], SQUARE),
    "the direction of a determinant": (lambda a: np.linalg.slogdet(a)[0], SQUARE),
    "sign": (np.sign, Z),
    "power 0": (lambda z: z**0 + z, Z),
    "power 0 alone": (lambda z: z**0, Z),
    "power -2": (lambda z: z**-2, Z),
    "sinc": (np.sinc, Z),
}
REFUSED: dict[str, tuple[Callable[..., Any], Any]] = {
    "svd": (lambda a: np.linalg.svd(a, compute_uv=False), SQUARE),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a + np.conj(a.T)), SQUARE),
    "qr": (lambda a: np.linalg.qr(a)[1], SQUARE),
    "sinc": (np.sinc, np.array([0j, 1j])),
}


def _scalar(function: Callable[..., Any], *zs: Any) -> Any:
    y = function(*zs)
    weights = np.random.default_rng(5).uniform(0.5, 1.5, (2, *np.shape(y)))
    return np.sum(np.real(y) * weights[0] + np.imag(y) * weights[1])


def _differences(function: Callable[..., Any], z: Any) -> Any:
    """d/dRe + i d/dIm of every entry that is a number, by central differences."""
    slopes = np.zeros(z.shape, complex)
    for place in np.ndindex(z.shape):
        for unit in (1, 1j):
            ends = []
            for sign in (1, -1):
                moved = z.copy()
                moved[place] += sign * STEP * unit
                ends.append(_scalar(function, moved))
            slopes[place] += unit * (ends[0] - ends[1]) / (2 * STEP)
    return slopes


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_agrees_with_differences_in_both_directions(name: str) -> None:
    function, z = CASES[name]
    (found,) = gradproof.check(lambda x: _scalar(function, x), z).gradients
    assert found.verdict is Verdict.CORRECT, found.reason
    expected = _differences(function, z)
    np.testing.assert_allclose(found.observed, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.reference, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_for_complex_numbers_has_no_gradient(name: str) -> None:
    function, z = REFUSED[name]
    with GradientTape() as tape:
        x = tape.watch(z)
        y = _scalar(function, x)
    assert isinstance(tape.gradient(y, x), Missing)


ALL = complex_cases()


@pytest.mark.parametrize("name", ALL)
def test_a_gradient_of_complex_numbers_is_right_or_there_is_none(name: str) -> None:
    """Along a random direction, by differences of NumPy's own calls; what is not proven may not be claimed."""
    function, points = ALL[name]
    with GradientTape() as tape:
        xs = tape.watch(points)
        y = _scalar(function, *xs)
    rng = np.random.default_rng(4)
    for k, gradient in enumerate(tape.gradient(y, xs)):
        if isinstance(gradient, Missing):
            continue
        assert gradient.verdict in (Verdict.CORRECT, Verdict.UNVERIFIED), gradient.explain()
        direction = rng.normal(size=np.shape(points[k])) + 1j * rng.normal(size=np.shape(points[k]))
        expected = _along(function, points, k, direction)
        found = float(np.sum(np.real(np.conj(np.asarray(gradient)) * direction)))
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)


def _along(function: Callable[..., Any], points: tuple[Any, ...], k: int, direction: Any) -> float:
    def moved(step: float) -> float:
        return float(_scalar(function, *points[:k], points[k] + step * direction, *points[k + 1 :]))

    wide, narrow = ((moved(h) - moved(-h)) / (2 * h) for h in (1e-3, 5e-4))
    return (4 * narrow - wide) / 3


def test_every_function_that_takes_complex_numbers_was_tried_with_them() -> None:
    """A function counts where it was given complex numbers in a case whose gradients are all proven."""
    met = set()
    for function, points in ALL.values():
        with GradientTape() as tape:
            xs = tape.watch(points)
            y = _scalar(function, *xs)
        gradients = tape.gradient(y, xs)
        if all(not isinstance(g, Missing) and g.verdict is Verdict.CORRECT for g in gradients):
            calls = [record for record in ancestors([y._record]) if record.op == CALL]
            met |= {
                record.call.function
                for record in calls
                if any(np.iscomplexobj(part) for x in record.inputs for part in _parts(x.value))
            }
    assert COMPLEX - set(LOWERINGS) == set()
    assert COMPLEX - met == set()


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_a_tie_of_complex_numbers_with_equal_sides_is_no_corner() -> None:
    z = np.array([0.5 + 0.25j, 1.5 - 1j])
    (found,) = gradproof.check(lambda z: np.sum(np.real(np.where(z != z[0], z * z, z * z))), z).gradients
    assert found.verdict is Verdict.CORRECT, found.reason


def test_a_tie_of_the_parts_of_a_complex_number_is_a_corner() -> None:
    z = np.array([1 + 1j, 2j])
    (found,) = gradproof.check(lambda z: np.sum(np.maximum(np.real(z), np.imag(z))), z).gradients
    assert found.verdict is Verdict.UNDEFINED

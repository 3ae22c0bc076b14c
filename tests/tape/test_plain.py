"""Masked arrays and matrices do not compute like arrays; what is not followed is refused, never judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.errors import InvalidInput
from gradproof.tape import GradientTape, Missing, Variable

MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
SPECIAL = [pytest.param(MASKED, "masked array", id="masked"), pytest.param(MATRIX, "np.matrix", id="matrix")]


@pytest.mark.parametrize(("x", "word"), SPECIAL)
def test_check_refuses_them(x: Any, word: str) -> None:
    with pytest.raises(InvalidInput, match=f"`x` is an? {word}"):
        gradproof.check(lambda x: np.sum(x * x), x)


@pytest.mark.parametrize(("x", "word"), SPECIAL)
@pytest.mark.parametrize("enter", [Variable, lambda x: GradientTape().watch(x)], ids=["Variable", "watch"])
def test_tapes_refuse_them(enter: Callable[[Any], Any], x: Any, word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        enter(x)


@pytest.mark.parametrize(("x", "word"), SPECIAL)
@pytest.mark.parametrize(
    "function", [lambda v, x: v * x, lambda v, x: np.dot(x, v)], ids=["operator", "function"]
)
def test_a_function_that_meets_one_on_the_way_is_refused(
    function: Callable[..., Any], x: Any, word: str
) -> None:
    with GradientTape() as tape:
        v = tape.watch(np.array([0.5, 1.5]))
        with pytest.raises(InvalidInput, match=word):
            function(v, x)


def test_what_a_masked_array_takes_for_itself_has_no_gradient() -> None:
    with GradientTape() as tape:
        v = tape.watch(np.array([0.5, 1.5]))
        y = MASKED * v  # NumPy asks the masked array first
    assert isinstance(tape.gradient(y, v), Missing)


def test_plain_arrays_are_not_refused() -> None:
    (found,) = gradproof.check(lambda x: np.sum(x * x), np.array([1.0, 2.0])).gradients
    assert found.verdict.value == "correct"

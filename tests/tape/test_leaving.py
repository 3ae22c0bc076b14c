"""Numbers that leave the tape and come back: found where they matter, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof

AT = np.array([1.0, 5.0, 2.0])


def through_float(x: Any) -> Any:
    return np.sum(x) * float(x[0])


def through_array(x: Any) -> Any:
    parts = [x[0] ** 2, x[1] ** 3]
    return np.sum(x) + np.prod(np.array(parts))


def normalised(x: Any) -> Any:
    return np.sum(x**2 / float(np.max(x)))


def shifted(x: Any) -> Any:
    largest = float(np.max(x))
    return np.log(np.sum(np.exp(x - largest))) + largest


def branching(x: Any) -> Any:
    return np.sum(x**2) if float(x[0]) > 0.5 else np.sum(x)


def counting(x: Any) -> Any:
    return np.sum(x) * int(x[1])


def stopped(x: Any) -> Any:
    float(x[0])
    return np.sum(x * gradproof.stop_gradient(x))


@pytest.mark.parametrize("function", [through_float, through_array, normalised])
def test_a_part_that_leaves_and_matters_is_named_and_nothing_is_called_correct(
    function: Callable[..., Any],
) -> None:
    (gradient,) = gradproof.check(function, AT).gradients
    assert gradient.verdict.value == "unverified"
    assert [(found.kind, found.severity) for found in gradient.diagnostics] == [("left-framework", "error")]


@pytest.mark.parametrize("function", [shifted, branching, counting, stopped])
def test_a_part_that_leaves_and_does_not_matter_raises_no_alarm(function: Callable[..., Any]) -> None:
    (gradient,) = gradproof.check(function, AT).gradients
    assert gradient.verdict.value == "correct"
    assert not gradient.diagnostics


def test_a_right_gradient_by_hand_is_not_called_wrong_for_it() -> None:
    (gradient,) = gradproof.check(lambda x: x * float(x), 3.0, gradient=lambda x: 2 * x).gradients
    assert gradient.verdict.value == "unverified"

"""Wrong use: each mistake has its own message, in the words of the user."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.blackbox import derivative, directional, gradient, gradient_check_numerical, jacobian
from gradproof.errors import GradproofError, InvalidInput, NotScalar

MISTAKES: dict[str, tuple[Callable[[], Any], type[GradproofError], str]] = {
    "None": (lambda: derivative(lambda x: None, 1.0), InvalidInput, "returned None"),
    "text": (lambda: derivative(lambda x: "one", 1.0), InvalidInput, "returned the text 'one'"),
    "object": (lambda: derivative(lambda x: object(), 1.0), InvalidInput, "returned an object"),
    "dict": (lambda: derivative(lambda x: {"loss": x}, 1.0), InvalidInput, "returned a dict"),
    "ragged": (lambda: derivative(lambda x: [[x], [x, x]], 1.0), InvalidInput, "unequal lengths"),
    "complex result": (lambda: derivative(lambda x: 1j * x, 1.0), InvalidInput, "returned a complex number"),
    "raises": (
        lambda: derivative(lambda x: {}["k"], 1.0),
        InvalidInput,
        "raised KeyError at the point itself",
    ),
    "domain": (lambda: derivative(math.log, -1.0), InvalidInput, "raised ValueError at the point itself"),
    "NaN": (lambda: derivative(math.sin, math.nan), InvalidInput, "x is nan"),
    "infinity": (lambda: gradient(np.sum, np.array([1.0, math.inf])), InvalidInput, r"x\[1\] is inf"),
    "empty": (lambda: gradient(np.sum, np.zeros(0)), InvalidInput, r"empty x of shape \(0,\)"),
    "huge": (lambda: gradient(np.sum, np.zeros(10**6)), InvalidInput, "about 30,000,000 times"),
    "text as x": (lambda: derivative(math.sin, "1"), InvalidInput, "needs numbers as x"),
    "None as x": (lambda: derivative(math.sin, None), InvalidInput, "needs numbers as x"),
    "ragged x": (lambda: gradient(np.sum, [1.0, [2.0, 3.0]]), InvalidInput, "unequal lengths"),
    "complex x": (lambda: derivative(np.sin, 1j), InvalidInput, "x is complex"),
    "bool x": (lambda: derivative(np.sin, True), InvalidInput, "needs numbers as x"),
    "array x": (lambda: derivative(np.sum, np.zeros(3)), NotScalar, r"x has shape \(3,\)"),
    "array result": (lambda: gradient(np.sin, np.zeros(3)), NotScalar, r"`sin` returned shape \(3,\)"),
    "two results": (lambda: derivative(lambda x: [x, x], 1.0), NotScalar, r"returned shape \(2,\)"),
    "direction": (
        lambda: directional(np.sum, np.zeros(3), np.ones(2)),
        InvalidInput,
        "direction shaped like x",
    ),
    "no direction": (
        lambda: directional(np.sum, np.ones(3), np.zeros(3)),
        InvalidInput,
        "not zero everywhere",
    ),
    "no argument": (lambda: gradient_check_numerical(math.sin, []), InvalidInput, "no argument"),
    "epsilon": (lambda: gradient_check_numerical(math.sin, [1.0], -1e-6), InvalidInput, "positive epsilon"),
    "gradient": (
        lambda: gradient_check_numerical(np.sum, [np.ones(3)], gradient=np.ones(2)),
        InvalidInput,
        r"shapes \[\(3,\)\]",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str) -> None:
    attempt, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words):
        attempt()


def test_a_fault_that_shows_only_near_the_point_is_named() -> None:
    def function(x: float) -> float:
        return x if x == 1.0 else {}["k"]

    with pytest.raises(InvalidInput, match="raised KeyError close to the point"):
        derivative(function, 1.0)


def test_a_result_that_changes_its_shape_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"returned shape \(2,\) close to a point"):
        jacobian(lambda x: np.ones(1) if x == 1.0 else np.ones(2), 1.0)


def test_the_cost_of_a_large_array_can_be_allowed() -> None:
    with pytest.raises(InvalidInput, match="max_evaluations=300"):
        gradient(np.sum, np.ones(10), max_evaluations=100)
    assert gradient(np.sum, np.ones(10), max_evaluations=300).ok


def test_a_function_that_changes_its_input_does_no_harm() -> None:
    def function(x: np.ndarray) -> float:
        x += 1
        return float(np.sum(x**2))

    x = np.array([1.0, 2.0])
    found = gradient(function, x)
    assert (abs(found.value - [4.0, 6.0]) <= found.error).all()
    assert x.tolist() == [1.0, 2.0]


def test_numbers_of_other_kinds_are_numbers() -> None:
    from fractions import Fraction

    assert derivative(lambda x: Fraction(x) ** 2, 1.5).status == "ok"
    assert derivative(lambda x: np.array(x * x), 1.5).status == "ok"

"""Functions with a gradient of their own: what the tape makes of their rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.errors import InvalidInput
from gradproof.judge.verdict import Verdict
from gradproof.tape import GradientTape, Missing, Variable, custom_gradient


@custom_gradient
def softplus(x: Any) -> Any:
    def gradient(upstream: Any) -> Any:
        return upstream / (1 + np.exp(-x))

    return np.log1p(np.exp(x)), gradient


@custom_gradient
def negated_sine(x: Any) -> Any:
    return np.sin(x), lambda upstream: -upstream * np.cos(x)


def test_the_rule_is_used_and_a_right_one_is_correct() -> None:
    x = Variable([0.5, -1.0])
    with GradientTape() as tape:
        y = np.sum(softplus(2 * x))
    gradient = tape.gradient(y, x)
    np.testing.assert_allclose(gradient, 2 / (1 + np.exp(-2 * np.array([0.5, -1.0]))))
    assert gradient.verdict is Verdict.CORRECT


def test_a_wrong_rule_gives_a_wrong_gradient_that_is_called_wrong() -> None:
    x = Variable([0.5, -1.0])
    with GradientTape() as tape:
        y = np.sum(negated_sine(x))
    gradient = tape.gradient(y, x)
    np.testing.assert_allclose(gradient, -np.cos([0.5, -1.0]))
    assert gradient.verdict is Verdict.WRONG
    np.testing.assert_allclose(gradient.error, 2 * np.cos([0.5, -1.0]))


def test_the_rule_itself_can_be_differentiated() -> None:
    x = Variable(0.5)
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = softplus(x)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    s = 1 / (1 + np.exp(-0.5))
    assert float(second) == pytest.approx(s * (1 - s), rel=1e-14)
    assert second.verdict is Verdict.CORRECT


def test_a_rule_that_uses_its_result_can_be_differentiated() -> None:
    @custom_gradient
    def exponential(x: Any) -> Any:
        y = np.exp(x)
        return y, lambda upstream: upstream * y

    x = Variable(0.5)
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = exponential(x)
        first = inner.gradient(y, x)
    assert float(outer.gradient(first, x)) == pytest.approx(np.exp(0.5))


def test_several_arguments_and_results() -> None:
    @custom_gradient
    def polar(x: Any, y: Any) -> Any:
        r = np.hypot(x, y)

        def gradient(of_radius: Any, of_angle: Any) -> Any:
            return (
                of_radius * x / r - of_angle * y / r**2,
                of_radius * y / r + of_angle * x / r**2,
            )

        return (r, np.arctan2(y, x)), gradient

    x, y = Variable(1.0), Variable(2.0)
    with GradientTape() as tape:
        radius, angle = polar(x, y)
        z = radius * 2 + angle * 3
    of_x, of_y = tape.gradient(z, [x, y])
    assert float(of_x) == pytest.approx(2 / np.sqrt(5) - 3 * 2 / 5)
    assert float(of_y) == pytest.approx(4 / np.sqrt(5) + 3 * 1 / 5)
    assert of_x.verdict is Verdict.CORRECT


def test_arguments_that_are_no_arrays_are_counted() -> None:
    @custom_gradient
    def scaled(x: Any, factor: float) -> Any:
        return x * factor, lambda upstream: (upstream * factor, None)

    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = np.sum(scaled(x, 3.0))
    np.testing.assert_array_equal(tape.gradient(y, x), [3.0, 3.0])


def test_a_variable_used_without_being_an_argument_gets_its_gradient_by_name() -> None:
    w = Variable(3.0)

    @custom_gradient
    def layer(x: Any) -> Any:
        def gradient(upstream: Any, variables: Any = None) -> Any:
            return upstream * w, [upstream * x]

        return x * w, gradient

    x = Variable(2.0)
    with GradientTape() as tape:
        y = layer(x)
    of_x, of_w = tape.gradient(y, [x, w])
    assert (float(of_x), float(of_w)) == (3.0, 2.0)


def test_a_forward_in_plain_numbers_works_but_is_not_proven() -> None:
    @custom_gradient
    def black_box(x: Any) -> Any:
        value = float(x) ** 3
        return value, lambda upstream: upstream * 3 * x**2

    x = Variable(2.0)
    with GradientTape() as tape:
        y = black_box(x) * 2
    gradient = tape.gradient(y, x)
    assert gradient == 24.0
    assert gradient.verdict is Verdict.UNVERIFIED
    assert gradient.error == np.inf


def test_a_rule_of_the_wrong_number_of_results_is_refused() -> None:
    @custom_gradient
    def product(x: Any, y: Any) -> Any:
        return x * y, lambda upstream: (upstream, upstream, upstream)

    x, y = Variable(1.0), Variable(2.0)
    with GradientTape() as tape:
        z = product(x, y)
    with pytest.raises(InvalidInput, match="returned 3 values for 2 arguments"):
        tape.gradient(z, x)


def test_a_rule_that_forgets_to_sum_is_refused_with_the_shapes() -> None:
    @custom_gradient
    def shifted(x: Any, b: Any) -> Any:
        return x + b, lambda upstream: (upstream, upstream)

    x, b = Variable(np.ones((4, 3))), Variable(np.zeros(3))
    with GradientTape() as tape:
        y = np.sum(shifted(x, b))
    with pytest.raises(InvalidInput, match="sum over the axes that broadcasting repeated"):
        tape.gradient(y, [x, b])


def test_a_function_that_returns_no_rule_is_refused() -> None:
    @custom_gradient
    def forgetful(x: Any) -> Any:
        return x * 2

    with GradientTape(), pytest.raises(InvalidInput, match="its value and its gradient function"):
        forgetful(Variable(1.0))


def test_a_rule_that_returns_none_leaves_no_gradient() -> None:
    @custom_gradient
    def blocked(x: Any) -> Any:
        return x * 2, lambda upstream: None

    x = Variable(1.0)
    with GradientTape() as tape:
        y = blocked(x)
    assert isinstance(tape.gradient(y, x), Missing)


def test_outside_a_tape_only_the_value_is_computed() -> None:
    assert float(softplus(np.array(0.0))) == np.log(2.0)

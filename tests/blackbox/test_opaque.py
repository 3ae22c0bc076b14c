"""Ops that can only be computed: their derivative by differences covers the truth, or is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gradproof.blackbox.opaque import pulled_back, value_of
from gradproof.errors import NoDerivative

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Op:
    """An op of one argument with a rule of its own."""

    function: Callable[[Array], Array]
    own_rule: Callable[[Array, Array], Array] | None = None
    dtype: str = "float64"

    def __call__(self, *xs: Array) -> Array:
        return np.asarray(self.function(np.asarray(xs[0], self.dtype)))

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        return None if self.own_rule is None else [self.own_rule(gy, xs[0])]


def _point(n: int) -> Array:
    return np.random.default_rng(3).uniform(0.5, 2.0, n)


def _product_rule(gy: Array, x: Array) -> Array:
    return gy * np.cos(x) * x + gy * np.sin(x)


PRODUCT = Op(lambda x: np.sin(x) * x, _product_rule)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_few_inputs_are_moved_one_by_one_and_the_bars_cover_the_truth(dtype: str) -> None:
    x, gy = _point(5).astype(dtype), np.array([1.0, -2.0, 0.5, 3.0, 1.0])
    found = pulled_back(Op(PRODUCT.function, PRODUCT.own_rule, dtype), [x], [0], gy)
    assert found.how == "entry by entry"
    off = np.abs(found.values[0] - _product_rule(gy, x.astype(np.float64)))
    assert (off <= found.errors[0]).all()
    assert found.errors[0].max() < (1e-8 if dtype == "float64" else 1e-2)


def test_many_inputs_cost_no_more_than_a_few_directions() -> None:
    calls = []
    op = Op(lambda x: calls.append(1) or np.sin(x) * x, _product_rule)  # type: ignore[func-returns-value]
    x, gy = _point(2000), np.ones(2000)
    found = pulled_back(op, [x], [0], gy)
    assert found.how == "along 4 random directions"
    assert (np.abs(found.values[0] - _product_rule(gy, x)) <= found.errors[0]).all()
    assert found.errors[0].max() < 1e-6 * np.abs(found.values[0]).max()
    assert len(calls) < 300


def test_one_wrong_entry_among_many_is_seen_along_directions() -> None:
    def rule(gy: Array, x: Array) -> Array:
        right = _product_rule(gy, x)
        right[7] *= 1.5
        return right

    x = _point(500)
    try:
        found = pulled_back(Op(PRODUCT.function, rule), [x], [0], np.ones(500))
    except NoDerivative:
        return
    # Not refused: then the error bar has to say that the entry may be off.
    off = np.abs(found.values[0] - _product_rule(np.ones(500), x))
    assert off[7] <= found.errors[0][7]


def test_a_wrong_rule_of_many_inputs_is_refused_with_both_slopes() -> None:
    op = Op(PRODUCT.function, lambda gy, x: 2.0 * _product_rule(gy, x))
    with pytest.raises(NoDerivative, match="its own rule gives the slope"):
        pulled_back(op, [_point(500)], [0], np.ones(500))


def test_a_wrong_rule_of_few_inputs_changes_nothing_about_the_slopes() -> None:
    op = Op(PRODUCT.function, lambda gy, x: 2.0 * _product_rule(gy, x))
    x = _point(4)
    found = pulled_back(op, [x], [0], np.ones(4))
    assert found.values[0] == pytest.approx(_product_rule(np.ones(4), x), rel=1e-8)


def test_treads_of_an_op_that_rounds_inside_are_not_taken_for_its_slope() -> None:
    """Half of the result is computed in float32: tiny steps see only the other half."""

    def half_narrow(x: Array) -> Array:
        return np.sin(x) + np.float64(np.float32(np.cos(x) * 3.0))

    op = Op(half_narrow, lambda gy, x: gy * (np.cos(x) - 3.0 * np.sin(x)))
    with pytest.raises(NoDerivative):
        pulled_back(op, [_point(3)], [0], np.ones(3))


def test_without_a_rule_many_inputs_are_refused_and_few_are_not() -> None:
    op = Op(PRODUCT.function)
    assert pulled_back(op, [_point(3)], [0], np.ones(3)).how == "entry by entry"
    with pytest.raises(NoDerivative, match="no rule to check"):
        pulled_back(op, [_point(100)], [0], np.ones(100))


def test_a_kink_is_no_slope() -> None:
    with pytest.raises(NoDerivative, match="kink"):
        pulled_back(Op(np.abs), [np.array([0.0, 1.0])], [0], np.ones(2))


def test_nothing_reaches_the_inputs_from_a_gradient_of_zero() -> None:
    found = pulled_back(PRODUCT, [_point(3)], [0], np.zeros(3))
    assert not found.values[0].any() and not found.errors[0].any()


def test_a_result_that_hangs_on_the_last_digit_of_its_inputs_is_refused() -> None:
    """As the phase of a complex eigenvector does."""
    with pytest.raises(NoDerivative, match="last digit"):
        value_of(Op(lambda x: np.sign(np.sin(1e16 * x))), [np.array([1.0, 2.0])], [np.zeros(2)])


def test_a_value_is_known_as_well_as_its_inputs_are() -> None:
    op, x = Op(lambda x: 1e3 * x), np.array([1.0, 2.0])
    sharp = value_of(op, [x], [np.zeros(2)])[1]
    blunt = value_of(op, [x], [np.full(2, 1e-6)])[1]
    assert sharp.max() < 1e-10
    assert (blunt >= 1e-3).all()

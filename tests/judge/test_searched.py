"""A rule is not called wrong by the slope of a search's steps; a wrong one still is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gradproof as gp
from gradproof.judge.verdict import Verdict
from gradproof.tape.array import Array as Traced


def root_with(factor: float, above: Callable[[Traced], Traced]) -> Callable[[Traced], Traced]:
    """x with x**3 + x = a by bisection below `above(a)`, and a rule that is right for a factor of 1."""

    @gp.custom_gradient
    def root(a):
        low, high = np.zeros(2), above(a)
        for _ in range(50):
            middle = 0.5 * (low + high)
            is_above = middle**3 + middle > a
            low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
        x = 0.5 * (low + high)
        return x, lambda up: factor * up / (3.0 * x**2 + 1.0)

    return root


@pytest.mark.parametrize("above", [lambda a: a, lambda a: 2.0 + 0.0 * a])
@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, Verdict.UNVERIFIED), (-1.0, Verdict.WRONG), (1.01, Verdict.WRONG)]
)
def test_a_rule_for_what_a_bisection_finds(above, factor: float, verdict: Verdict) -> None:
    root = root_with(factor, above)
    [found] = gp.check(lambda a: np.sum(root(a)), np.array([1.0, 3.0])).gradients
    assert found.verdict is verdict
    assert ("`root` searches by comparisons" in (found.reason or "")) == (verdict is Verdict.UNVERIFIED)
    assert (found.reference is None) == (verdict is Verdict.UNVERIFIED)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, Verdict.UNVERIFIED), (-1.0, Verdict.UNDEFINED)])
def test_a_bisection_that_meets_the_root_on_its_way(factor: float, verdict: Verdict) -> None:
    """The middle is the root of x**3 + x = 2 after two steps: the search stands at a tie, the function does not."""
    root = root_with(factor, lambda a: 2.0 * a)
    [found] = gp.check(lambda a: np.sum(root(a)), np.array([2.0, 2.0])).gradients
    assert found.verdict is verdict


def test_a_kink_beside_a_search_stays_one() -> None:
    root = root_with(1.0, lambda a: 2.0 * a)
    [found] = gp.check(lambda a: np.sum(root(a) + np.abs(a - 2.0)), np.array([2.0, 2.0])).gradients
    assert found.verdict is Verdict.UNDEFINED


def test_the_slope_of_one_branch_is_no_search() -> None:
    @gp.custom_gradient
    def leaky(x):
        return np.where(x > 0.0, x, 0.1 * x), lambda up: up * np.where(x > 0.0, 1.0, 0.2)

    [found] = gp.check(lambda x: np.sum(leaky(x)), np.array([1.0, -3.0])).gradients
    assert found.verdict is Verdict.WRONG


def test_a_wrong_rule_beside_a_search_stays_wrong() -> None:
    @gp.custom_gradient
    def squared(w):
        return w * w, lambda up: up * 3.0 * w

    root = root_with(1.0, lambda a: a)
    found = gp.check(lambda a, w: np.sum(root(a)) + np.sum(squared(w)), np.array([1.0, 3.0]), np.array([2.0]))
    assert [one.verdict for one in found.gradients] == [Verdict.UNVERIFIED, Verdict.WRONG]

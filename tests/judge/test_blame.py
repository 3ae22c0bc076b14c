"""Blame falls on the rule that departs from the derivative, and on no rule that only met rounded numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.engine.derive import Derived, derive
from gradproof.judge.blame import departures
from gradproof.options import Options

from ..planting import planted
from ..small import program_of, total


def _derive_with(op: str, factor: float, function: Any, *values: Any, dtype: str | None = None) -> Derived:
    program = program_of(function, *values, dtype=dtype)

    def spoil(right: Any) -> Any:
        return replace(
            right,
            slopes=tuple((lambda m, y, *xs, s=slope: m.mul(s(m, y, *xs), factor)) for slope in right.slopes),
        )

    with planted(op, spoil):
        return derive(program)


def _blamed(derived: Derived) -> list[str]:
    return [departure.pullback.op for departure in departures(derived.program, derived.pullbacks, Options())]


def _chain(m: Any, x: Any) -> Any:
    return total(m, m.exp(m.tanh(m.sin(x))))


@pytest.mark.parametrize("op", ["exp", "tanh", "sin"])
def test_the_wrong_rule_of_a_chain_is_named(op: str) -> None:
    derived = _derive_with(op, 1.001, _chain, [0.5, 1.0])
    assert _blamed(derived) == [op]


def test_the_departure_tells_what_the_rule_means_and_what_is_true() -> None:
    derived = _derive_with("tanh", 2.0, _chain, [0.5, 1.0])
    (found,) = departures(derived.program, derived.pullbacks, Options())
    np.testing.assert_allclose(found.meant.mid, 2.0 * found.true.mid, rtol=1e-12)
    assert found.relative_error == pytest.approx(1.0)


def test_right_rules_are_not_blamed() -> None:
    assert _blamed(derive(program_of(_chain, [0.5, 1.0]))) == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_saturated_tanh_is_not_blamed_for_the_rounding_of_its_value(dtype: str) -> None:
    """1 - y^2 of the rounded y is far from the true slope, but the rule is right."""
    derived = derive(program_of(lambda m, x: total(m, m.tanh(x)), [4.0, 3.5], dtype=dtype))
    assert _blamed(derived) == []


def test_one_wrong_rule_does_not_taint_the_others() -> None:
    derived = _derive_with("exp", -1.0, _chain, [0.5])
    assert _blamed(derived) == ["exp"]


def test_a_small_departure_that_cancellation_made_large_is_found() -> None:
    def function(m: Any, x: Any) -> Any:
        return m.sub(m.exp(x), m.mul(x, np.float32(np.exp(0.5))))

    derived = _derive_with("exp", 1.0001, function, 0.5, dtype="float32")
    assert _blamed(derived) == ["exp"]


def test_rules_at_second_order_are_judged_at_the_numbers_they_had() -> None:
    first = derive(program_of(lambda m, x: m.mul(m.exp(x), m.exp(x)), 0.7)).program
    assert _blamed(derive(first)) == []


def test_an_input_used_twice_is_judged_by_the_sum_of_both_places() -> None:
    program = program_of(lambda m, x: m.mul(x, x), 1.5)
    swapped = replace_mul_rules(program)
    assert _blamed(swapped) == []


def replace_mul_rules(program: Any) -> Derived:
    """The rules of the two arguments exchanged: wrong for each place, right for their sum."""
    with planted("mul", lambda op: replace(op, slopes=(lambda m, y, a, b: a, lambda m, y, a, b: b))):
        return derive(program)

"""Which mistake a rule was written with, told from programs alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder
from gradproof.judge.mistake import Mistake, find_mistakes
from gradproof.judge.rule import HandWrittenRule
from gradproof.options import Options

X = np.array([0.3, -1.2, 2.0, 0.7])
UP = np.array([0.5, -2.0, 1.5, 3.0])

Forward = Callable[[Tracer, Traced], Any]
Backward = Callable[[Tracer, Any, Any, Any], Any]


def _rule(forward: Forward, backward: Backward, x: Any = X, up: Any = UP) -> HandWrittenRule:
    """A program with a forward and a rule that claims to be its pullback."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    source = Traced(m, builder.input(np.asarray(x), "x"), np.asarray(x))
    y = forward(m, source)
    upstream = Traced(m, builder.constant(np.asarray(up)), np.asarray(up))
    result = backward(m, upstream, y, source)
    program = builder.build([y.id, result.id])
    return HandWrittenRule(program, "f", (source.id,), (y.id,), (upstream.id,), (result.id,))


def _mistake(*args: Any, **kwargs: Any) -> Mistake:
    (found,) = find_mistakes(_rule(*args, **kwargs), Options())
    return found


def _sin(m: Tracer, x: Traced) -> Any:
    return m.sin(x)


def _slope(m: Tracer, x: Traced) -> Any:
    return m.cos(x)


def test_a_right_rule_has_none() -> None:
    assert not find_mistakes(_rule(_sin, lambda m, up, y, x: m.mul(up, _slope(m, x))), Options())


def test_a_wrong_sign_is_told() -> None:
    assert _mistake(_sin, lambda m, up, y, x: m.neg(m.mul(up, _slope(m, x)))).kind == "sign"


@pytest.mark.parametrize("factor", [2.0, -0.25, 1.0 + 2.0**-10])
def test_a_constant_factor_is_told_with_its_size(factor: float) -> None:
    found = _mistake(_sin, lambda m, up, y, x: m.mul(m.mul(up, _slope(m, x)), factor))
    assert found.kind == "factor"
    assert found.numbers["factor"] == pytest.approx(factor)


def test_a_factor_below_the_tolerance_is_found_when_asked_for() -> None:
    """A wrong gradient may come from a departure that is small where it arises and grows on the way."""
    found = _mistake(_sin, lambda m, up, y, x: m.mul(m.mul(up, _slope(m, x)), 1.0 + 2.0**-34))
    assert found.kind == "factor"


def test_an_ignored_upstream_is_told_from_a_wrong_slope() -> None:
    assert _mistake(_sin, lambda m, up, y, x: _slope(m, x)).kind == "ignores upstream"


def test_an_upstream_that_is_squared_is_not_linear_and_its_power_is_told() -> None:
    found = _mistake(_sin, lambda m, up, y, x: m.mul(m.mul(up, up), _slope(m, x)))
    assert found.kind == "not linear"
    assert found.numbers["power"] == pytest.approx(2.0)


def test_a_term_that_is_left_out_is_told_with_the_op_it_came_through() -> None:
    found = _mistake(lambda m, x: m.mul(x, m.sin(x)), lambda m, up, y, x: m.mul(up, m.sin(x)))
    assert found.kind == "missing term"
    assert found.rule.program[found.node].op == "sin"  # type: ignore[index]


def test_a_factor_of_the_chain_rule_that_is_left_out_is_told_with_its_op() -> None:
    found = _mistake(lambda m, x: m.sin(m.exp(x)), lambda m, up, y, x: m.mul(up, m.cos(m.exp(x))))
    assert found.kind == "missing factor"
    assert found.rule.program[found.node].op == "exp"  # type: ignore[index]


@pytest.mark.parametrize("step", [1e-2, -1e-3, 1e-5])
def test_the_step_of_a_difference_is_recovered_from_the_error(step: float) -> None:
    def backward(m: Tracer, up: Any, y: Any, x: Any) -> Any:
        ahead = m.sin(m.add(x, step))
        return m.mul(up, m.div(m.sub(ahead, m.sin(x)), step))

    found = _mistake(_sin, backward)
    assert found.kind == "finite difference"
    assert found.detail == ("forward" if step > 0 else "backward")
    assert found.numbers["step"] == pytest.approx(abs(step), rel=1e-6)
    assert found.numbers["predicted"] == pytest.approx(found.numbers["difference"], rel=2 * abs(step))


def test_a_constant_factor_of_an_exponential_is_no_difference_quotient() -> None:
    """Every multiple of exp is a quotient of exp for some step: only a rule that takes one is called so."""
    found = _mistake(lambda m, x: m.exp(x), lambda m, up, y, x: m.mul(m.mul(up, y), 1.001))
    assert found.kind == "factor"


def test_a_difference_quotient_of_an_exponential_is_no_constant_factor() -> None:
    def backward(m: Tracer, up: Any, y: Any, x: Any) -> Any:
        return m.mul(up, m.div(m.sub(m.exp(m.add(x, 0.001)), y), 0.001))

    assert _mistake(lambda m, x: m.exp(x), backward).kind == "finite difference"


def test_an_identity_whose_gradient_is_reversed_looks_intended() -> None:
    found = _mistake(lambda m, x: m.mul(x, 1.0), lambda m, up, y, x: m.mul(up, -0.5))
    assert found.kind == "reversal"
    assert found.is_intended


def test_a_step_function_with_a_gradient_looks_intended() -> None:
    found = _mistake(lambda m, x: m.cast(m.floor(x), dtype="float64"), lambda m, up, y, x: m.mul(up, 1.0))
    assert found.kind == "straight-through"
    assert found.is_intended


def test_a_slope_in_the_place_of_zero_is_no_straight_through_where_nothing_is_decided() -> None:
    found = _mistake(lambda m, x: m.mul(x, 0.0), lambda m, up, y, x: m.mul(up, 1.0))
    assert not found.is_intended


def test_entries_that_are_wrong_are_named() -> None:
    factors = np.array([1.0, 1.0, 1.5, 1.0])
    found = _mistake(_sin, lambda m, up, y, x: m.mul(m.mul(up, _slope(m, x)), m.literal(factors)))
    assert found.kind == "entries"
    assert found.entries == ((2,),)


def test_a_number_that_no_relation_explains_is_called_other() -> None:
    def backward(m: Tracer, up: Any, y: Any, x: Any) -> Any:
        return m.mul(up, m.mul(_slope(m, x), m.mul(_slope(m, x), _slope(m, x))))

    assert _mistake(_sin, backward).kind == "other"


def test_one_number_is_no_constant_multiple_of_another_if_the_slope_is_frozen() -> None:
    found = _mistake(_sin, lambda m, up, y, x: m.mul(up, 1.37), x=np.array(0.8), up=np.array(2.0))
    assert found.kind == "other"


def test_a_step_that_explains_one_entry_only_makes_no_difference_quotient() -> None:
    """One number can be had from a quotient with some step; the others have to follow from the same step."""
    step = 0.001
    off = np.zeros(4)
    off[2] = (np.sin(X[2] + step) - np.sin(X[2])) / step - np.cos(X[2])

    def backward(m: Tracer, up: Any, y: Any, x: Any) -> Any:
        slope = m.add(_slope(m, x), m.literal(off))
        unused = m.mul(m.add(x, step), 0.0)
        return m.mul(up, m.add(slope, unused))

    assert _mistake(_sin, backward).kind == "entries"

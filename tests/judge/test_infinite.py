"""Infinite constants stand for numbers so large that it makes no difference how large."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.engine.derive import derive
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict

from ..planting import planted
from ..small import judge_own, judge_recorded, observed, program_of, total

NOTHING = -np.inf


def judged(function: Any, *xs: Any, dtype: Any = "float64") -> Judgement:
    return judge_own(program_of(function, *xs, dtype=dtype))[0]


def test_entries_masked_by_minus_infinity_are_left_out() -> None:
    def masked(m: Any, x: Any) -> Any:
        return m.log(total(m, m.exp(m.add(x, m.literal(np.array([0.0, NOTHING, 0.0]))))))

    judgement = judged(masked, [1.0, 2.0, 0.5])
    assert judgement.verdict is Verdict.CORRECT
    assert judgement.oracle == "limit"
    assert judgement.enclosure is not None and judgement.enclosure.mid[1] == 0.0


def test_the_logarithm_of_a_mask_is_minus_infinity_as_well() -> None:
    def masked(m: Any, x: Any) -> Any:
        return total(m, m.exp(m.add(x, m.log(m.literal(np.array([1.0, 0.0]))))))

    assert judged(masked, [1.0, 2.0]).verdict is Verdict.CORRECT


def test_what_depends_on_the_size_of_infinity_is_not_decided() -> None:
    def divided(m: Any, x: Any) -> Any:
        infinite = m.literal(np.array(np.inf))
        return m.mul(x, m.div(m.sqrt(infinite), m.sqrt(m.sqrt(infinite))))

    assert judged(divided, 1.0).verdict in (Verdict.UNVERIFIED, Verdict.NONFINITE)


def test_a_constant_that_only_overflowed_keeps_its_value() -> None:
    def scaled(m: Any, x: Any) -> Any:
        large = m.exp(m.literal(np.array(100.0, np.float32)))
        return m.mul(x, m.div(large, m.exp(m.literal(np.array(99.0, np.float32)))))

    judgement = judged(scaled, 1.0, dtype="float32")
    assert judgement.verdict is not Verdict.CORRECT
    assert judgement.enclosure is not None
    assert abs(float(judgement.enclosure.mid) - np.e) < 1e-12


def test_a_wrong_rule_beside_a_mask_is_still_wrong() -> None:
    def masked(m: Any, x: Any) -> Any:
        return total(m, m.exp(m.add(m.tanh(x), m.literal(np.array([0.0, NOTHING])))))

    program = program_of(masked, [1.0, 2.0])
    with planted("tanh", lambda op: replace(op, slopes=(lambda m, y, x: 1 + y * y,))):
        recorded = derive(program)
    (judgement,) = judge_recorded(program, recorded, observed(recorded))
    assert judgement.verdict is Verdict.WRONG


def test_a_remainder_by_zero_has_no_gradient_to_hold_another_one_against() -> None:
    """The step of the infinite quotient has a number in its place, and a slope came of that."""

    def remainder(m: Any, x: Any) -> Any:
        one = m.literal(np.array(1.0))
        return m.sub(one, m.mul(x, m.cast(m.floor(m.div(one, x)), dtype="float64")))

    program = program_of(remainder, 0.0)
    nodes = [*program.nodes[:-1], replace(program.nodes[-1], value=np.array(np.nan))]
    program = replace(program, nodes=tuple(nodes))
    derived = derive(program)
    (judgement,) = judge_recorded(program, derived, (np.array(-np.inf),))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert judgement.enclosure is None
    assert judgement.reason is not None and "`floor` has no value here" in judgement.reason


@pytest.mark.filterwarnings("ignore")
def test_the_variance_of_one_number_is_undefined_and_not_zero():
    x = gradproof.Variable(np.array([2.0]))
    with gradproof.GradientTape() as tape:
        y = np.var(x, ddof=1)
    assert tape.gradient(y, x).verdict.value == "undefined"

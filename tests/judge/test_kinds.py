"""A rule decides nothing about a kind of number it was never tested with; the op is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.derive import derive
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict
from gradproof.ops._op import COMPLEX, REAL

from ..planting import planted
from ..small import judge_own, judge_recorded, observed, program_of

POINT = np.array([0.5 - 1.25j, 2.0 + 0.5j])


def _real_total(m: Any, y: Any) -> Any:
    return m.real(m.sum(y, axes=(0,)))


def _judged(function: Any, x: Any = POINT) -> Judgement:
    (judgement,) = judge_own(program_of(function, x))
    return judgement


def test_an_op_without_complex_samples_decides_nothing_about_complex_numbers() -> None:
    judgement = _judged(lambda m, z: _real_total(m, m.softmax(z, axes=(0,))))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert judgement.reason is not None
    assert "`softmax`" in judgement.reason
    assert "complex" in judgement.reason


def test_the_kinds_of_an_op_are_what_counts() -> None:
    def function(m: Any, z: Any) -> Any:
        return _real_total(m, m.exp(z))

    assert _judged(function).verdict is Verdict.CORRECT
    with planted("exp", lambda op: replace(op, kinds=REAL)):
        assert _judged(function).verdict is Verdict.UNVERIFIED


def test_an_op_of_complex_numbers_decides_nothing_about_real_ones() -> None:
    def function(m: Any, x: Any) -> Any:
        return m.sum(m.exp(x), axes=(0,))

    with planted("exp", lambda op: replace(op, kinds=COMPLEX)):
        judgement = _judged(function, np.array([0.5, 1.5]))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert "real" in (judgement.reason or "")


def test_what_the_target_does_not_depend_on_is_no_matter() -> None:
    def function(m: Any, z: Any) -> Any:
        m.softmax(z, axes=(0,))
        return _real_total(m, m.exp(z))

    assert _judged(function).verdict is Verdict.CORRECT


def test_a_backward_op_that_was_never_tested_accuses_nobody() -> None:
    program = program_of(lambda m, z: _real_total(m, m.exp(z)), POINT)
    with planted("exp", lambda op: replace(op, slopes=(lambda m, y, x: m.softmax(x, axes=(0,)),))):
        recorded = derive(program)
    (judgement,) = judge_recorded(program, recorded, observed(recorded))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert "`softmax`" in (judgement.reason or "")

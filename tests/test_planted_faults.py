"""Faults planted in derivatives of recorded programs are caught and blamed; their innocent twins are not."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.engine.derive import derive
from gradproof.judge.verdict import Verdict

from .planted_programs import PROGRAMS, build
from .planting import CAST, FACTORS, UNBLAMED, Finding, blamed_ops, examine, faults, table, verdicts

NO_EFFECT = 1e-12  # a fault in float64 that moves the gradient by less moves it by nothing but rounding
KINDS = {
    "sign", *(f"factor 1 + {factor:g}" for factor in FACTORS), "missing term", "transposed",
    "wrong at one entry", "wrong branch", "un-reduced broadcast", "ignored upstream", CAST,
    "finite difference",
    "second order only", "sign at second order",
}  # fmt: skip


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    found = [examine(fault) for fault in faults()]
    print("\n" + table(found))
    return found


def _real(findings: list[Finding], dtype: str) -> list[Finding]:
    return [finding for finding in findings if finding.fault.dtype == dtype and finding.counts]


def test_at_least_two_hundred_faults_of_every_kind_are_planted(findings: list[Finding]) -> None:
    real = _real(findings, "float64")
    assert len(real) >= 200
    assert {finding.fault.kind for finding in real} == KINDS


def test_every_fault_in_float64_is_caught_or_has_no_effect_at_all(findings: list[Finding]) -> None:
    missed = [
        str(finding.fault)
        for finding in findings
        if finding.fault.dtype == "float64"
        and not finding.is_caught
        # A cast that matters less than the tolerance leaves the gradient correct.
        and (finding.counts if finding.fault.kind == CAST else finding.effect > NO_EFFECT)
    ]
    assert not missed


def test_every_fault_in_float32_that_exceeds_the_tolerance_is_caught(findings: list[Finding]) -> None:
    missed = [str(finding.fault) for finding in _real(findings, "float32") if not finding.is_caught]
    assert not missed


def test_a_wrong_rule_is_called_wrong_and_a_cast_inaccurate(findings: list[Finding]) -> None:
    for finding in _real(findings, "float64"):
        expected = Verdict.INACCURATE if finding.fault.kind == CAST else Verdict.WRONG
        assert expected in finding.verdicts, finding


def test_blame_falls_on_the_op_with_the_fault_and_on_no_other(findings: list[Finding]) -> None:
    for dtype in ("float64", "float32"):
        for finding in _real(findings, dtype):
            assert finding.is_blamed, (str(finding.fault), finding.blamed)


def test_nobody_is_blamed_in_place_of_another(findings: list[Finding]) -> None:
    for finding in findings:
        assert finding.blamed <= {finding.fault.op}, (str(finding.fault), finding.blamed)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_innocent_twin_is_correct_and_nobody_is_blamed(name: str, dtype: str) -> None:
    program = build(name, dtype)
    recorded = derive(program)
    assert set(verdicts(program, recorded)) == {Verdict.CORRECT}
    assert not blamed_ops(recorded)


def test_kinds_without_a_wrong_pullback_are_kinds() -> None:
    assert set(UNBLAMED) <= KINDS


def test_programs_have_gradients_that_are_not_all_alike() -> None:
    """Otherwise a transposed or misplaced gradient would go unnoticed."""
    for name in PROGRAMS:
        recorded = derive(build(name, "float64"))
        sizes = [np.unique(np.round(recorded.program[id].value, 9)).size for id in recorded.program.outputs]
        assert max(sizes) > 1, name

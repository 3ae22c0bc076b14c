"""A fault of ours in the search for causes costs the evidence, never the verdict."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof
from gradproof.audit import examine
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause


def lossy(x: object) -> object:
    return ((x * np.float32(1e10) + np.float32(1.0)) - np.float32(1e10)) ** 2  # type: ignore[operator]


def failing(case: Case) -> Case:
    raise RuntimeError("planted")


def test_evidence_that_fails_is_said_and_the_verdict_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "with_facts", failing)
    [found] = gradproof.check(lossy, np.float32(1.0)).gradients
    assert str(found.verdict) == "inaccurate"
    assert found.reference == 2e10
    assert found.reason is not None
    assert found.reason.startswith("a fault of gradproof (RuntimeError: planted, in test_examine.py:")


def test_a_cause_that_fails_silences_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    found = gradproof.check(lossy, np.float32(1.0)).gradients[0].diagnostics
    assert found
    planted = (Cause("planted", failing, ""), *gradproof.causes.causes())  # type: ignore[arg-type]
    monkeypatch.setattr("gradproof.causes.causes", lambda: planted)
    [again] = gradproof.check(lossy, np.float32(1.0)).gradients
    assert [d.kind for d in again.diagnostics] == [d.kind for d in found]
    assert again.reason is not None
    assert "RuntimeError: planted" in again.reason

"""Numbers that no float64 holds: what an op gives, and what is proven, are shown by their size."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import CallModes, ModesReport
from gradproof.render.modes_json import to_modes_json

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def _alone(function: Any, x: Any) -> tuple[ModesReport, CallModes]:
    report = gradproof.compare(function, np.array(x), frameworks=[], only_here=True)
    (call,) = report.calls
    return report, call


def test_an_op_beyond_float64_is_shown_with_its_exact_value() -> None:
    _, call = _alone(lambda x: np.sum(np.log(1 + np.exp(x))), [800.0])
    lost = call.lines[0].cells[0].lost
    assert lost is not None and (lost.op, lost.exact, lost.other) == ("exp", "2.7e347", "inf")
    assert "; in float32, bfloat16 and float16 every mode is off" in call.conclusion.verdict


def test_a_proven_gradient_beyond_float64_is_no_number_that_is_unknown() -> None:
    report, call = _alone(lambda x: np.sum(np.exp(x)), [1.0, 800.0, -900.0])
    (own,) = [line for line in call.lines if line.is_own]
    assert own.cells[0].verdict is Verdict.NONFINITE and own.cells[0].worst == (1,)
    assert call.sources[0].beyond == {(1,): "2.7e347"}
    assert "proven       2.7e347" in str(report) and "unknown" not in str(report)
    assert "2.7e347" in report._repr_html_()
    (written,) = json.loads(to_modes_json(report))["calls"][0]["sources"]
    assert written["beyond_float64"] == [{"index": [1], "size": "2.7e347"}]
    assert call.conclusion.kind == "wrong" and "from `exp` in line" in call.conclusion.verdict


def test_a_number_and_an_infinity_of_no_number_are_told_apart() -> None:
    _, call = _alone(lambda x: np.exp(x) * 1e-200, 800.0)
    assert call.sources[0].beyond == {} and call.lines[0].verdict is Verdict.NONFINITE
    _, call = _alone(lambda x: np.sqrt(x), 0.0)
    assert call.sources[0].beyond == {} and call.conclusion.kind == "unverified"
    assert "all others are right" not in call.conclusion.verdict

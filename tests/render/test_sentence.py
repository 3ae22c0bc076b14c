"""Every verdict in a sentence."""

import numpy as np
import pytest

from gradproof.diagnosis.report import GradientReport
from gradproof.judge.verdict import Verdict
from gradproof.render.sentence import sentence
from tests.render import reports
from tests.render.reports import gradient, scalar


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (reports.CORRECT, "d loss / d x  correct, 7.2 of 7.2 digits, proven"),
        (
            reports.INACCURATE,
            "d loss / d x  inaccurate, 0.0 of 7.2 digits: TensorFlow 0.0, proven 2.0e10",
        ),
        (
            reports.WRONG,
            "d y / d x  wrong, 2.9 of 15.9 digits: TensorFlow -0.416601415864859, proven -0.4161468365471424",
        ),
        (
            reports.UNDEFINED,
            "d loss / d x  undefined: slope -1.0 from below, 1.0 from above; TensorFlow 0.0",
        ),
        (reports.MISSING, "d y / d x  missing: TensorFlow returned None, proven -0.4161468365471424"),
        (
            reports.NONFINITE,
            "d loss / d x  NaN/inf, 1 of 2 entries not finite: TensorFlow nan at [1], proven 0.0",
        ),
        (
            reports.UNVERIFIED,
            "d loss / d x  unverified: the op `PyFunc` at line 8 runs code whose meaning is not known",
        ),
        (gradient(Verdict.UNVERIFIED), "d loss / d x  unverified: no reason was recorded"),
        (
            gradient(Verdict.UNDEFINED),
            "d loss / d x  undefined: the function has no derivative at this point",
        ),
        (
            gradient(Verdict.MISSING, framework="torch", reason="`.item()` leaves the graph", occurrence=2),
            "d loss / d x (2nd run)  missing: PyTorch returned None; `.item()` leaves the graph",
        ),
        (
            gradient(Verdict.NONFINITE, observed=scalar(np.inf), reference=scalar(1 / 3), digits=0.0),
            "d loss / d x  NaN/inf: TensorFlow inf, proven 0.3333333333333333",
        ),
        (
            gradient(Verdict.WRONG, observed=np.float32(0.1) * np.ones(2), reference=np.array([0.1, 2.0])),
            "d loss / d x  wrong: TensorFlow 0.1 at [1], proven 2.0",
        ),
        (gradient(Verdict.CORRECT, intended=True), "d loss / d x  correct, intended, proven"),
        (gradient(Verdict.CORRECT, source="a\x1b[31m\n"), "d loss / d a�[31m   correct, proven"),
    ],
)
def test_a_gradient_in_a_sentence(report: GradientReport, expected: str) -> None:
    assert sentence(report) == expected

"""A test that asserts a gradient to be None says that it is meant."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from gradproof.audit.intended import finished
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

CALL = "tape.gradient(y, x)"


def _marked(text: str, verdict: Verdict) -> bool:
    """Whether the gradient of the first such call in a text counts as intended."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    call = next(node for node in nodes if ast.unparse(node) == CALL)
    span = Span("script.py", call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
    fault = Diagnostic("not-connected", "error", "proven", "there is no gradient", None)
    observed = None if verdict is Verdict.MISSING else np.zeros(())
    gradient = GradientReport(
        span, "tensorflow", "y", "x", (), "float32", verdict, observed=observed, diagnostics=(fault,)
    )
    return finished(Report((gradient,), sources={"script.py": text})).gradients[0].intended


@pytest.mark.parametrize(
    "text",
    [
        f"assert {CALL} is None",
        f"class T:\n    def test(self):\n        self.assertIsNone({CALL})",
        f"g = {CALL}\nprint(g)\nassert g is None",
        f"def test():\n    with tape:\n        g = {CALL}\n    assert g is None",
    ],
)
def test_what_is_asserted_to_be_none_is_meant_to_be(text: str) -> None:
    assert _marked(text, Verdict.MISSING)
    assert not _marked(text, Verdict.WRONG)


@pytest.mark.parametrize(
    "text",
    [
        f"print({CALL})",
        f"assert {CALL} is not None",
        f"assert {CALL}[0] is None",
        f"g = {CALL}\nassert g is 3",
        f"g = {CALL}\ng = None\nassert g is None",
        f"g = None\nassert g is None\ng = {CALL}",
        f"def one():\n    g = {CALL}\ndef other(g):\n    assert g is None",
    ],
)
def test_what_is_asserted_of_something_else_says_nothing(text: str) -> None:
    assert not _marked(text, Verdict.MISSING)

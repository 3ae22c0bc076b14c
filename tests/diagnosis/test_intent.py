"""Functions declared as intended: what is found in them is still said, and fails nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.errors import InvalidInput
from gradproof.judge.verdict import Verdict


@gradproof.intended
@gradproof.custom_gradient
def reversed_gradient(x: Any) -> Any:
    def backward(upstream: Any) -> Any:
        return -upstream

    return x, backward


@gradproof.custom_gradient
def undeclared(x: Any) -> Any:
    def backward(upstream: Any) -> Any:
        return -upstream

    return x, backward


def test_a_declared_deviation_is_reported_as_intended() -> None:
    report = gradproof.check(lambda x: np.sum(np.sin(reversed_gradient(x))), np.array([0.5, 1.0]))
    (row,) = report.gradients
    assert row.verdict is Verdict.WRONG
    assert row.intended
    assert row.level == "note"
    assert report.exit_status("warning") == 0


def test_the_same_deviation_undeclared_is_not() -> None:
    (row,) = gradproof.check(lambda x: np.sum(np.sin(undeclared(x))), np.array([0.5, 1.0])).gradients
    assert not row.intended
    assert row.level == "warning"


def test_a_comment_at_the_line_does_the_same() -> None:
    @gradproof.custom_gradient
    def commented(x: Any) -> Any:
        def backward(upstream: Any) -> Any:
            return -upstream  # gradproof: intended

        return x, backward

    (row,) = gradproof.check(lambda x: np.sum(np.sin(commented(x))), np.array([0.5, 1.0])).gradients
    assert row.intended


def test_what_is_no_python_function_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="needs a function written in Python"):
        gradproof.intended(np.sin)

"""At the end of a training the gradient is nothing but rounding, and nobody's fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof as gp
from gradproof.diagnosis.diagnostic import AT_REST
from gradproof.diagnosis.report import GradientReport
from gradproof.judge.verdict import Verdict


def audited(function: Callable[[Any], Any], at: Any) -> GradientReport:
    with gp.watch() as report:
        x = gp.Variable(at)
        with gp.GradientTape() as tape:
            loss = function(x)
        tape.gradient(loss, x)
    (only,) = report.gradients
    return only


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_a_gradient_at_the_end_of_a_training_is_a_warning(dtype: str, noise: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4)).astype(dtype)
    y = (x @ np.arange(1, 5) / 3 + noise * rng.normal(size=60)).astype(dtype)
    best = np.linalg.lstsq(x.astype(float), y.astype(float), rcond=None)[0].astype(dtype)
    found = audited(lambda w: np.mean((np.matmul(x, w) - y) ** 2), best)
    assert found.verdict is Verdict.INACCURATE
    assert {one.severity for one in found.diagnostics} == {"warning"}
    assert all(AT_REST in one.notes for one in found.diagnostics)


@pytest.mark.parametrize(
    ("function", "at"),
    [
        (lambda x: np.exp(x) - 1.0 - x, 1e-5),  # small, and zero only at 0, many numbers of its dtype away
        (lambda x: np.tan(x * x), 1.2533141),  # steep: a rounding of x moves the slope, but to no zero
        (
            lambda x: x * 1e8 + x - x * 1e8,
            0.3,
        ),  # large terms cancel, and what is left is a slope like any other
    ],
)
def test_what_loses_digits_anywhere_else_is_an_error(function: Callable[[Any], Any], at: float) -> None:
    found = audited(function, np.float32(at))
    assert found.verdict is Verdict.INACCURATE
    assert "error" in {one.severity for one in found.diagnostics}

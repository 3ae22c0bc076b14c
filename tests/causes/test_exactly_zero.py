"""A right gradient that is exactly 0 trains nothing: the last line says so, and which bound holds the number."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof as gp
from gradproof.render.summary_text import last_line


def _watched(start: float, low: float) -> gp.Report:
    temperature = gp.Variable(start, name="temperature")
    with gp.watch() as report:
        with gp.GradientTape() as tape:
            loss = np.exp(3.0 / np.clip(temperature, low, 5.0))
        tape.gradient(loss, temperature)
    return report


def test_a_number_beyond_its_bound_does_not_train() -> None:
    report = _watched(0.003, 0.05)
    [note] = report.diagnostics
    assert (note.kind, note.severity) == ("vanishing", "note")
    assert note.span is not None and note.span.file.endswith("test_exactly_zero.py")
    assert "but exactly 0: `temperature` will not train" in last_line(report)
    assert f"{note.span}: flat here" in last_line(report)


@pytest.mark.parametrize("low", [0.05, 0.0])
def test_inside_the_bounds_nothing_is_said(low: float) -> None:
    report = _watched(0.5, low)
    assert not report.diagnostics
    assert last_line(report).endswith("; nothing to fix")

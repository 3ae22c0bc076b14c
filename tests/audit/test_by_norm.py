"""Entries that are off in a gradient right by norm: a warning where it runs, an error where it was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import gradproof as gp
from gradproof.audit.by_norm import softened
from gradproof.diagnosis.diagnostic import BY_NORM
from gradproof.render.from_json import from_json
from gradproof.render.to_json import to_json
from gradproof.render.to_text import to_text
from tests.audited import audited

_SCRIPT = """\
import numpy as np
import gradproof as gp
x = gp.Variable(np.array([{first}, 300.0], np.float32))
with gp.GradientTape() as tape:
    loss = {large} * x[0] + np.float32(100) * (np.sqrt(x[1] * x[1] + np.float32(1)) - x[1])
print(tape.gradient(loss, x))
"""


def _audited(tmp_path: Path, large: str) -> gp.Report:
    path = tmp_path / "script.py"
    path.write_text(_SCRIPT.format(first="1.0", large=large), encoding="utf-8")
    report, faults = audited(path)
    assert not faults
    return report


def test_a_small_entry_that_is_off_is_a_warning_and_the_summary_says_so(tmp_path: Path) -> None:
    report = _audited(tmp_path, "np.float32(1)")
    (gradient,) = report.gradients
    assert str(gradient.verdict) == "inaccurate"
    assert gradient.level == "warning"
    assert report.exit_status() == 0
    last = to_text(report).strip().splitlines()[-1]
    assert BY_NORM in last


def test_a_gradient_that_is_off_by_norm_is_an_error(tmp_path: Path) -> None:
    report = _audited(tmp_path, "np.float32(0)")
    (gradient,) = report.gradients
    assert str(gradient.verdict) == "inaccurate"
    assert gradient.level == "error"
    assert BY_NORM not in to_text(report)


def test_a_check_that_was_asked_for_counts_every_entry() -> None:
    def loss(x: gp.Variable) -> object:
        one = np.float32(1)
        return x[0] + np.float32(100) * (np.sqrt(x[1] * x[1] + one) - x[1])

    report = gp.check(loss, np.array([1.0, 300.0], np.float32))
    (gradient,) = report.gradients
    assert str(gradient.verdict) == "inaccurate"
    assert gradient.level == "error"


def test_it_is_a_warning_too_where_no_time_was_left_to_look_for_the_cause(tmp_path: Path) -> None:
    report = _audited(tmp_path, "np.float32(1)")
    unexplained = replace(report.gradients[0], diagnostics=(), reason="no time was left")
    gradient = softened(unexplained, gp.Options())
    assert gradient.level == "warning"
    assert gradient.reason == f"{BY_NORM}; no time was left"
    again = from_json(to_json(replace(report, gradients=(gradient,))))
    assert again.gradients[0].level == "warning"
    off = _audited(tmp_path, "np.float32(0)").gradients[0]
    assert softened(replace(off, diagnostics=()), gp.Options()).level == "error"

"""The page of a report that was made later is that of judging in place, pictures and all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gradproof as gp
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.joined import joined
from gradproof.diagnosis.drawing.drawing import Allowance
from gradproof.diagnosis.report import Report
from gradproof.render.to_html import to_html


def _program() -> None:
    x = gp.Variable(np.float32(1.0), name="x")
    for _ in range(2):
        with gp.GradientTape() as tape:
            loss = ((x * np.float32(1e10) + np.float32(1.0)) - np.float32(1e10)) ** 2
        tape.gradient(loss, x)


def _page(report: Report) -> str:
    """But for times."""
    page = re.sub(r"<dd>(script [^<]*)?checks [^<]*", "<dd>", to_html(report))
    return re.sub(r"<li>checking took [^<]*</li>", "", page)


def test_the_page_is_that_of_judging_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Allowance, "left", lambda *_: 1e6)  # points of a curve that there is time for
    with gp.watch() as now:
        _program()
    with gp.watch(defer=tmp_path / "kept"):
        _program()
    work = opened(str(tmp_path / "kept"))
    assert [step.n_done for step in judge_all(work)] == [0, 1, 2]
    later = joined(work)
    assert {str(gradient.verdict) for gradient in later.gradients} == {"inaccurate"}
    page = _page(later)
    assert page == _page(now)
    assert "<svg" in page

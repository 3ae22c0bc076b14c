"""Pictures are drawn when somebody looks, within a time, and they hold no large program."""

from __future__ import annotations

import gc
import os
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.audit import draw, examine
from gradproof.audit.condense import condensed
from gradproof.audit.relocate import relative_to
from gradproof.diagnosis.drawing import drawing, sketch
from gradproof.diagnosis.drawing.drawing import Allowance
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for
from gradproof.options import Options
from gradproof.render.from_json import from_json
from gradproof.render.to_json import to_document, to_json


def two(x: Any, y: Any) -> Any:
    return np.sin(x) * y + np.abs(y)


def examined(function: Any, *args: Any) -> list[GradientReport]:
    """The gradients of a call before they become part of a report."""
    [capture] = frontend_for(args, {}).check(Request(function, args, {})).captures
    return examine.examine(capture, Options())


def figures_of(gradient: GradientReport) -> Any:
    assert gradient.figures is not None
    return gradient.figures


def test_nothing_is_drawn_unless_asked_for_and_then_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(draw, "draw", lambda *args: calls.append(args) or drawing.Figures())
    [gradient, _] = gradproof.check(two, 1.0, 2.0).gradients
    assert not calls
    assert gradient.figures is gradient.figures
    assert len(calls) == 1


def test_the_gradients_of_one_call_share_their_program() -> None:
    report = gradproof.check(two, 1.0, 2.0)
    first, second = (figures_of(gradient) for gradient in report.gradients)
    assert first.program is second.program
    assert {node.name for node in first.program.nodes} >= {"x", "y"}
    assert len(to_document(report)["programs"]) == 1


def test_a_fault_of_ours_costs_the_pictures_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*args: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(draw, "draw", failing)
    report = gradproof.check(np.sin, 1.0)
    assert str(report.gradients[0].verdict) == "correct"
    assert "planted" in figures_of(report.gradients[0]).lacking["slice"]
    monkeypatch.setattr(draw, "sketched", failing)
    report = gradproof.check(np.sin, 1.0)
    assert "planted" in figures_of(report.gradients[0]).lacking["program"]


def test_gradients_without_faults_get_little_time_and_the_others_theirs() -> None:
    allowance = Allowance(plain=0.0, others=10.0)
    for gradient, is_drawn in ((examined(np.abs, 0.0)[0], True), (examined(np.sin, 1.0)[0], False)):
        assert isinstance(gradient.drawing, draw.Drawing)
        figures = replace(gradient.drawing, allowance=allowance)()
        assert (figures.slice is not None) == is_drawn, figures.lacking
        assert figures.program is not None
    assert "used up" in figures.lacking["slice"]
    assert allowance.plain < 0.0
    assert allowance.others < 10.0


def test_a_large_program_is_not_kept_but_its_view_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch, "MOST_NODES", 5)
    kept: list[weakref.ref[Any]] = []
    original = examine.cases

    def noting(capture: Any, options: Any) -> Any:
        found = original(capture, options)
        kept.extend(weakref.ref(case.program) for case in found)
        return found

    monkeypatch.setattr(examine, "cases", noting)
    report = gradproof.check(two, 1.0, 2.0)
    gc.collect()
    assert kept
    assert all(program() is None for program in kept)
    figures = figures_of(report.gradients[0])
    assert len(figures.program.nodes) > 5
    assert "too large" in figures.lacking["slice"]
    assert figures.program is figures_of(report.gradients[1]).program


def test_places_in_pictures_are_named_as_the_reader_knows_them() -> None:
    def loss(x: Any) -> Any:
        for _ in range(10):
            x = 2.0 * x
        return x

    (gradient,) = gradproof.check(loss, 1.0).gradients
    figures = figures_of(gradient)
    folder = os.path.dirname(os.path.abspath(__file__))
    moved = relative_to(Report((gradient, gradient)), folder)
    again, other = (figures_of(each) for each in moved.gradients)
    assert again.program is other.program
    for before, after in zip(figures.program.nodes, again.program.nodes):
        assert (before.span is None) == (after.span is None)
    files = {node.span.file for node in again.program.nodes if node.span is not None}
    files |= {passage.span.file for passage in again.passages}
    assert all(os.path.basename(file) == "test_draw.py" for file in files)
    assert len(again.passages) == 1


def test_in_a_long_run_the_oldest_correct_gradients_lose_their_programs() -> None:
    rows = [row for k in range(3) for row in examined(np.sin, 1.0 + k)]
    owns = [row.drawing for row in rows if isinstance(row.drawing, draw.Drawing)]
    limit = owns[0].n_bytes
    assert limit > 1000
    found = condensed(rows, picture_limit=limit)
    assert [row.drawing.program is None for row in found] == [True, True, False]  # type: ignore[union-attr]
    assert "let go" in figures_of(found[0]).lacking["slice"]
    assert figures_of(found[2]).slice is not None


@pytest.mark.parametrize("x", [0.0, 1.0])
def test_a_report_read_back_has_the_same_pictures(x: float) -> None:
    report = gradproof.check(two, 1.0, x)
    text = to_json(report)
    assert to_json(from_json(text)) == text
    assert len(text) < 100_000


def test_what_is_run_for_a_picture_is_no_gradient_of_the_program() -> None:
    tf = pytest.importorskip("tensorflow")
    report = gradproof.check(lambda x: tf.abs(x), tf.constant(0.0))
    with gradproof.watch() as watched:
        modes = figures_of(report.gradients[0]).modes
    assert any("under XLA" in row.mode for row in modes)
    assert watched.gradients == ()

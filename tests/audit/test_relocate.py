"""Reports name files as the reader knows them."""

from __future__ import annotations

import os
from dataclasses import replace

from gradproof.audit.relocate import relative_to
from gradproof.diagnosis.report import Report, Unchecked
from gradproof.ir.span import Span
from gradproof.render.to_text import to_text
from tests.render.reports import RICH


def test_every_place_below_the_folder_is_named_from_there() -> None:
    folder = os.path.join(os.sep, "home", "user", "project")
    inside, outside = os.path.join(folder, "train.py"), os.path.join(os.sep, "lib", "layers.py")
    [gradient, *_] = RICH.gradients
    report = Report(
        (replace(gradient, call=Span(inside, 3)),),
        unchecked=(Unchecked(Span(inside, 4), 2, "why"), Unchecked(Span(outside, 5), 2, "why")),
        sources={inside: "x = 1\n", outside: "y = 2\n"},
    )
    moved = relative_to(report, folder)
    assert moved.gradients[0].call == Span("train.py", 3)
    assert [row.call.file for row in moved.unchecked] == ["train.py", outside]
    assert set(moved.sources) == {"train.py", outside}
    assert folder not in to_text(moved, detail="verbose")


def test_arrays_are_shared_and_nothing_else_changes() -> None:
    moved = relative_to(RICH, os.path.join(os.sep, "nowhere"))
    assert to_text(moved) == to_text(RICH)
    for before, after in zip(RICH.gradients, moved.gradients):
        assert before.observed is after.observed

"""Large gradients that are right are summarised when there are too many of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.audit.condense import condensed
from gradproof.diagnosis.report import Report
from gradproof.judge.verdict import Verdict
from gradproof.render.to_json import to_document
from tests.render.reports import gradient

ROW = gradient(Verdict.CORRECT, observed=np.ones(1000), reference=np.ones(1000), shape=(1000,))


def test_the_oldest_correct_ones_lose_their_arrays_and_keep_their_summary() -> None:
    wrong = replace(ROW, verdict=Verdict.WRONG)
    rows = condensed([wrong, ROW, ROW, ROW], limit=40_000)
    assert [row.observed is None for row in rows] == [False, True, True, False]
    assert rows[1].entry_table is not None
    assert rows[1].entry_table.count == 1000
    assert to_document(Report(tuple(rows)))["gradients"][1]["entries"]["count"] == 1000


def test_within_the_limit_nothing_changes() -> None:
    assert condensed([ROW, ROW])[0] is ROW

"""What the callbacks of all trainers share: an audit whose checks are made later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradproof
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.joined import joined
from gradproof.errors import InvalidInput
from gradproof.plugins.training import TrainingAudit


def train() -> None:
    for _ in range(2):
        x = gradproof.Variable(np.array([1.0, 2.0]), name="x")
        with gradproof.GradientTape() as tape:
            loss = np.sum(np.exp(x))
        tape.gradient(loss, x)


def test_trainings_are_kept_in_one_folder_and_judged_later(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    audit = TrainingAudit(checks="all", defer=tmp_path / "kept")
    for _ in range(2):
        audit.begin()
        train()
        assert audit.new() == []
        audit.end()
    assert audit.report.gradients == ()
    assert "4 gradient calls kept in" in capfd.readouterr().err
    work = opened(str(tmp_path / "kept"))
    assert [step.n_done for step in judge_all(work)] == [0, 1, 2, 3, 4]
    assert [str(one.verdict) for one in joined(work).gradients] == ["correct"] * 4


def test_what_goes_by_verdicts_is_refused_where_there_are_none_yet(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing is judged yet"):
        TrainingAudit(defer=tmp_path / "kept", stop_on="error")
    with pytest.raises(InvalidInput, match="nothing is judged yet"):
        TrainingAudit(defer=tmp_path / "kept", report=tmp_path / "audit.json")

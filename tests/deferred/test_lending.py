"""What is kept is read where it stands in the program's memory, and is what it was whatever the program does next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.deferred import keeping
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.joined import joined
from gradproof.errors import NotData
from gradproof.frontends.record.model import Value
from gradproof.frontends.record.value import lending

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def _train(folder: Path) -> list[Any]:
    """Two steps that write over everything they have used; the gradients as the report has them."""
    with gradproof.watch(defer=folder):
        x = torch.tensor([0.5, 1.0], requires_grad=True)
        for _ in range(2):
            torch.exp(x).sum().backward()
            with torch.no_grad():
                x.sub_(0.5)
                x.grad.zero_()
    work = opened(str(folder))
    list(judge_all(work))
    return list(joined(work).gradients)


def _expected() -> list[Any]:
    return [np.exp(np.array([0.5, 1.0]), dtype=np.float32), np.exp(np.array([0.0, 0.5]), dtype=np.float32)]


def test_what_was_kept_is_not_what_the_program_made_of_it_later(tmp_path: Path) -> None:
    gradients = _train(tmp_path / "kept")
    assert [str(one.verdict) for one in gradients] == ["correct", "correct"]
    for one, expected in zip(gradients, _expected(), strict=True):
        np.testing.assert_allclose(one.observed, expected, rtol=1e-6)


def test_nor_is_what_had_to_be_judged_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: Any, *rest: Any) -> int:
        if isinstance(value, keeping.KeptCall) and value.captures:
            raise NotData("an object of the program")
        return write(value, *rest)

    write = keeping.write
    monkeypatch.setattr(keeping, "write", refuse)
    told: list[Any] = []
    tell = keeping.FolderKeeper.tell

    def noted(self: Any, reports: Any, are_tried: bool = False) -> None:
        told.extend(reports)
        tell(self, reports, are_tried)

    monkeypatch.setattr(keeping.FolderKeeper, "tell", noted)
    _train(tmp_path / "kept")
    for one, expected in zip(told, _expected(), strict=True):  # as they are now, the program having gone on
        np.testing.assert_allclose(one.observed, expected, rtol=1e-6)


def test_a_value_that_was_lent_is_read_again_by_whoever_keeps_it() -> None:
    memory = np.array([1.0])
    value = Value(1, "float64", (1,), lambda: memory)
    with lending():
        assert value.array is memory
    memory = np.array([2.0])
    assert value.array is memory
    with lending():
        assert value.array is memory

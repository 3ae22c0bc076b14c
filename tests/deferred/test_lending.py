"""What is kept is read where it stands in the program's memory, and is what it was whatever the program does next."""

from __future__ import annotations

import threading
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


def _train_and_look(folder: Path) -> None:
    gradients = _train(folder)
    assert [str(one.verdict) for one in gradients] == ["correct", "correct"]
    for one, expected in zip(gradients, _expected(), strict=True):
        np.testing.assert_allclose(one.observed, expected, rtol=1e-6)


def test_what_was_kept_is_not_what_the_program_made_of_it_later(tmp_path: Path) -> None:
    _train_and_look(tmp_path / "kept")


def test_nor_is_it_where_the_disk_is_slower_than_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program goes on meanwhile, as it would wait here for ever otherwise."""
    has_gone_on = threading.Event()
    written = keeping.write_gathered

    def slow(*args: Any) -> int:
        assert has_gone_on.wait(60)
        return written(*args)

    monkeypatch.setattr(keeping, "write_gathered", slow)
    with gradproof.watch(defer=tmp_path / "kept"):
        x = torch.tensor([0.5, 1.0], requires_grad=True)
        torch.exp(x).sum().backward()
        with torch.no_grad():
            x.zero_()
            x.grad.zero_()
        has_gone_on.set()
    (kept,) = opened(str(tmp_path / "kept"))[0].part.calls()
    capture = opened(str(tmp_path / "kept"))[0].part.call(kept).captures[0]
    np.testing.assert_allclose(capture.sources[0].observed, _expected()[0], rtol=1e-6)


def test_what_is_too_large_to_be_copied_is_written_before_the_program_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_COPIED", 0)
    monkeypatch.setattr(keeping._WritingThread, "start", lambda writer: pytest.fail("a copy was made"))
    assert [str(one.verdict) for one in _train(tmp_path / "kept")] == ["correct", "correct"]


def test_where_no_thread_can_be_started_any_more_the_program_writes_it_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(writer: Any) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(keeping._WritingThread, "start", refused)
    _train_and_look(tmp_path / "kept")


def test_a_fault_while_it_is_written_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> int:
        raise RuntimeError("as nobody expected")

    monkeypatch.setattr(keeping, "write_gathered", broken)
    with gradproof.watch(defer=tmp_path / "kept"):
        x = torch.tensor([0.5, 1.0], requires_grad=True)
        torch.exp(x).sum().backward()
    (work,) = opened(str(tmp_path / "kept"))
    (note,) = (note for note in joined([work]).notes if "could not be kept" in note)
    assert "RuntimeError: as nobody expected" in note


def test_nor_is_what_had_to_be_judged_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: Any, *rest: Any) -> Any:
        if isinstance(value, keeping.KeptCall) and value.captures:
            raise NotData("an object of the program")
        return gather(value, *rest)

    gather = keeping.gather
    monkeypatch.setattr(keeping, "gather", refuse)
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

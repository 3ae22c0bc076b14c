"""Work on all cores: every part once, in order, in the caller's context, and errors are not lost."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gradproof.domains import cores
from gradproof.domains.cores import on_all_cores


@pytest.fixture(autouse=True)
def _three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "cores", lambda: 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_every_part_has_its_result_in_its_place(n: int) -> None:
    assert on_all_cores(lambda part: part * part, range(n)) == [part * part for part in range(n)]


def test_several_threads_work_and_none_is_left() -> None:
    before = threading.active_count()
    names = on_all_cores(lambda part: threading.current_thread().name, range(3))
    assert len(set(names)) == 3
    assert threading.active_count() == before


def test_numpys_settings_are_those_of_the_caller() -> None:
    with np.errstate(all="ignore"):
        assert on_all_cores(lambda part: float(np.float64(1.0) / np.float64(0.0)), range(6)) == [np.inf] * 6


def test_an_error_in_any_thread_reaches_the_caller() -> None:
    def fail(part: int) -> None:
        if part == 5:
            raise ValueError("part 5")

    with pytest.raises(ValueError, match="part 5"):
        on_all_cores(fail, range(6))


def test_ctrl_c_while_the_threads_start_leaves_none_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    done: list[int] = []
    caught = threading.Event()
    start, join = threading.Thread.start, threading.Thread.join

    def start_one(thread: threading.Thread) -> None:
        if started:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    def join_when_caught(thread: threading.Thread) -> None:
        caught.set()
        join(thread)

    def work(part: int) -> None:
        caught.wait(timeout=10)
        done.append(part)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    monkeypatch.setattr(threading.Thread, "join", join_when_caught)
    with pytest.raises(KeyboardInterrupt):
        on_all_cores(work, range(6))
    assert not started[0].is_alive()
    assert done == [2]

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

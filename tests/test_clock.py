"""Limits nest, are kept at the next tick, and name themselves."""

from __future__ import annotations

import threading
import time

import pytest

from gradproof.clock import (
    TimeIsOver,
    by_computing,
    doing,
    seconds_left,
    shown_by,
    tick,
    time_limit,
    unlimited,
)


def test_without_a_limit_nothing_ever_ends() -> None:
    tick()
    with time_limit(None, "never"):
        tick()


def test_after_the_limit_the_next_tick_says_which_limit_it_was() -> None:
    with time_limit(0.01, "the short one"):
        tick()
        time.sleep(0.02)
        with pytest.raises(TimeIsOver, match="the short one"):
            tick()
    tick()  # the limit ends with its block


@pytest.mark.parametrize(
    ("outer", "inner", "held"), [(0.0, 60.0, "outer"), (60.0, 0.0, "inner"), (0.0, None, "outer")]
)
def test_of_two_limits_the_sooner_holds(outer: float, inner: float | None, held: str) -> None:
    with time_limit(outer, "outer"), time_limit(inner, "inner"):
        time.sleep(0.001)
        with pytest.raises(TimeIsOver, match=held):
            tick()


def test_where_computing_counts_waiting_costs_nothing() -> None:
    with by_computing(), time_limit(0.2, "over"):
        time.sleep(0.3)  # as on a machine that others keep busy
        tick()
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        with pytest.raises(TimeIsOver, match="over"):
            tick()


def test_an_outer_limit_by_the_wall_is_taken_over_where_computing_counts() -> None:
    with time_limit(60.0, "outer"), by_computing():
        left = seconds_left()
        assert left is not None and 50.0 < left <= 60.0


def test_nothing_that_handles_faults_takes_it_for_one() -> None:
    assert not issubclass(TimeIsOver, Exception)


def test_what_has_to_be_said_is_said_after_the_limit() -> None:
    with time_limit(0.0, "over"), unlimited():
        time.sleep(0.001)
        tick()


def test_another_thread_has_a_clock_of_its_own() -> None:
    ended = []
    with time_limit(0.0, "over"):
        time.sleep(0.001)
        thread = threading.Thread(target=lambda: (tick(), ended.append(True)))
        thread.start()
        thread.join()
    assert ended == [True]


def test_whoever_shows_progress_hears_what_is_done_from_the_whole_to_the_part() -> None:
    heard: list[tuple[str, ...]] = []
    with shown_by(heard.append), doing("train.py:12"):
        with doing("float64 balls"):
            tick()
        tick()
    tick()
    assert heard == [("train.py:12", "float64 balls"), ("train.py:12",)]

"""How long fixes are looked for: together as long as the checks of the same run took, and at least five seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# A search of a second is the rule; the first of a program must not end before its checks add up.
LEAST_SECONDS = 5.0


@dataclass
class SearchTime:
    """Seconds of computing, so that a busy machine finds the same."""

    checked: float = 0.0
    searched: float = 0.0

    @property
    def left(self) -> float:
        return max(LEAST_SECONDS, self.checked) - self.searched


@dataclass
class _Watch:
    """The check in hand: since when it was not counted yet, and the moment at which a search in it has to end."""

    total: SearchTime
    mark: float
    ends: float = math.inf

    def lap(self) -> float:
        before, self.mark = self.mark, time.thread_time()
        return self.mark - before


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def checking(total: SearchTime | None = None) -> Iterator[None]:
    """What is done inside is a check, but for the searches in it; a check inside another is a part of that."""
    if _WATCH.get() is not None:
        yield
        return
    watch = _Watch(total or SearchTime(), time.thread_time())
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        watch.total.checked += watch.lap()
        _WATCH.reset(token)


@contextmanager
def searching() -> Iterator[None]:
    """What is done inside is a search: `deadline` tells when it has to end."""
    watch = _WATCH.get()
    if watch is None:
        yield
        return
    watch.total.checked += watch.lap()
    watch.ends = watch.mark + watch.total.left
    try:
        yield
    finally:
        watch.total.searched += watch.lap()
        watch.ends = math.inf


def deadline() -> float:
    """On the clock of computing of this thread."""
    watch = _WATCH.get()
    return math.inf if watch is None else watch.ends


def cut_short() -> str:
    """Says so where the time of the searches is used up; empty where it is not."""
    watch = _WATCH.get()
    if watch is None or watch.total.left > 0.0:
        return ""
    is_least = watch.total.checked < LEAST_SECONDS
    limit = "the least a search is given" if is_least else "as long as the checks took"
    return f"fixes were looked for during {watch.total.searched:.1f} s, {limit}, and not to the end"

"""How long fixes are looked for: together as long as the checks of the same run took, and at least three seconds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

# A search of a second is the rule; the first of a program must not end before its checks add up. To load the program
# and to listen to it costs as much as this, too, and is no part of what is counted.
LEAST_SECONDS = 3.0
MOST_IN_VAIN = 2  # searches at one place of the source; a third would try the same ways of writing once more


@dataclass
class SearchTime:
    """Seconds of computing, so that a busy machine finds the same."""

    checked: float = 0.0
    searched: float = 0.0
    in_vain: Counter[object] = field(default_factory=Counter)  # by place

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


def is_in_vain(place: object) -> bool:
    """Whether a formula was looked for at a place before, for other gradients, and none was found."""
    watch = _WATCH.get()
    return watch is not None and watch.total.in_vain[place] >= MOST_IN_VAIN


def note_in_vain(place: object) -> None:
    """That a search at a place has come to its end and found nothing."""
    watch = _WATCH.get()
    if watch is not None:
        watch.total.in_vain[place] += 1


def cut_short() -> str:
    """Says so where the time of the searches is used up; empty where it is not."""
    watch = _WATCH.get()
    if watch is None or watch.total.left > 0.0:
        return ""
    is_least = watch.total.checked < LEAST_SECONDS
    limit = "the least a search is given" if is_least else "as long as the checks took"
    return f"fixes were looked for during {watch.total.searched:.1f} s, {limit}, and not to the end"

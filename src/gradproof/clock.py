"""The clock of an examination: ends work whose time is over, and lets its progress be shown while it lasts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

Show = Callable[[tuple[str, ...]], None]
"""Is told what is being done, from the whole to its part, many times a second."""


class TimeIsOver(BaseException):
    """The limit of the work in hand has passed; the message says which limit.

    Not an `Exception`: nothing on the way may take it for the fault of one step, and go on with the next.
    """


@dataclass(frozen=True)
class Clock:
    """When the work has to be given up (as `now` tells the time) and why, what it does, and who shows it."""

    moment: float = math.inf
    reason: str = ""
    doing: tuple[str, ...] = ()
    show: Show | None = None
    now: Callable[[], float] = time.monotonic


# Passed by context and not by argument: the loops that can take long lie in every layer, down to single ops.
_CLOCK: ContextVar[Clock | None] = ContextVar("clock", default=None)


def tick() -> None:
    """Called from inside every loop that can take long; costs next to nothing."""
    clock = _CLOCK.get()
    if clock is None:
        return
    if clock.now() > clock.moment:
        raise TimeIsOver(clock.reason)
    if clock.show is not None:
        clock.show(clock.doing)


def seconds_left() -> float | None:
    """Until the limit of the work in hand; None where it has none."""
    clock = _CLOCK.get()
    return None if clock is None or clock.moment == math.inf else max(clock.moment - clock.now(), 0.0)


def now() -> float:
    """The seconds that limits are counted in: on the wall, or of computing where that was asked for."""
    return (_CLOCK.get() or Clock()).now()


@contextmanager
def time_limit(seconds: float | None, reason: str) -> Iterator[None]:
    """After so many seconds the next `tick` inside raises `TimeIsOver`; an outer limit that ends sooner holds."""
    clock = _CLOCK.get() or Clock()
    moment = math.inf if seconds is None else clock.now() + seconds
    if moment < clock.moment:
        clock = replace(clock, moment=moment, reason=reason)
    with _set(clock):
        yield


@contextmanager
def by_computing() -> Iterator[None]:
    """Limits inside count what this process computes: what else the machine does changes no result."""
    clock, left = _CLOCK.get() or Clock(), seconds_left()
    moment = math.inf if left is None else time.process_time() + left
    with _set(replace(clock, moment=moment, now=time.process_time)):
        yield


@contextmanager
def unlimited() -> Iterator[None]:
    """For what has to be done however late it is: saying that the time is over."""
    with _set(None):
        yield


class doing:
    """Name the part of the work that is done inside. Written out, since a check of many rows names thousands."""

    __slots__ = ("_token", "_what")

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        clock = _CLOCK.get()
        self._token = (
            None
            if clock is None
            else _CLOCK.set(
                Clock(clock.moment, clock.reason, (*clock.doing, self._what), clock.show, clock.now)
            )
        )

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _CLOCK.reset(self._token)


@contextmanager
def shown_by(show: Show | None) -> Iterator[None]:
    """Have the work inside shown while it lasts."""
    with _set(replace(_CLOCK.get() or Clock(), show=show)):
        yield


@contextmanager
def _set(clock: Clock | None) -> Iterator[None]:
    token = _CLOCK.set(clock)
    try:
        yield
    finally:
        _CLOCK.reset(token)

"""The clock of `user_waits.py`: plain work and what is waited for in turns, by CPU time, with the noise of both."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

Work = Callable[[], object]

BLOCK = 0.05  # seconds of plain work that one block has at least
ENOUGH = 2.0  # seconds after which a case has been measured, if it had its rounds
LONG = 5.0  # seconds: of what takes so long one round has to do
ROUNDS, MOST = 3, 30


@dataclass(frozen=True)
class Row:
    """One line of the table. The goal is a ratio to plain work, or milliseconds."""

    name: str
    plain: float
    waited: float
    ratio: float
    noise: float
    goal: float
    unit: str
    """`gradients`, `x` or `ms`: what the goal is a number of."""
    or_ms: float | None = None
    """Milliseconds that will do as well, where a gradient takes so little that no multiple of it can be felt."""

    @property
    def met(self) -> bool:
        is_felt = self.or_ms is None or 1e3 * self.waited > self.or_ms
        return not is_felt or (1e3 * self.waited if self.unit == "ms" else self.ratio) <= self.goal

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            _milliseconds(self.plain),
            _milliseconds(self.waited),
            f"{self.ratio:.2f}" if self.unit == "x" else f"{self.ratio:.1f}",
            f"{100 * self.noise:.0f} %",
            f"{self.goal:g} {self.unit}" + ("" if self.or_ms is None else f" or {self.or_ms:g} ms"),
            "yes" if self.met else "**no**",
        )


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.1f} ms" if seconds < 0.1 else f"{1e3 * seconds:,.0f} ms"


def cpu(work: Work, count: int = 1) -> float:
    """Seconds of all threads for one call."""
    start = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - start) / count


def cpu_of_children(work: Work) -> float:
    """Seconds of the processes that are started and end inside."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(
    name: str,
    plain: Work,
    waited: Work,
    goal: float,
    unit: str = "gradients",
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
    clock: Callable[[Work], float] | None = None,
) -> Row:
    """Plain, plain, waited in turns, the last inside what `around` begins and ends, which does not count.

    The first call of each is not counted where the clock is that of this process: it loads what is loaded once.
    """
    count = 1
    if clock is None:
        with around():
            waited()
        plain()
        count = max(1, round(BLOCK / max(cpu(plain), 1e-9)))
    plains, waits, ratios, noises = [], [], [], []
    start = time.monotonic()
    while len(ratios) < ROUNDS or (time.monotonic() - start < ENOUGH and len(ratios) < MOST):
        one, other = ((clock(plain) if clock else cpu(plain, count)) for _ in range(2))
        with around():
            wait = (clock or cpu)(waited)
        plains += [one, other]
        waits.append(wait)
        ratios.append(2 * wait / (one + other))
        noises.append(abs(one - other) / min(one, other))
        if wait > LONG:
            break
    medians = (statistics.median(several) for several in (plains, waits, ratios, noises))
    return Row(name, *medians, goal, unit)

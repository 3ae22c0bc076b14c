"""The time that checking may take, and the executions of a gradient call that are checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gradproof.errors import InvalidInput

Policy = Callable[[int], bool]


@dataclass
class Budget:
    """Seconds for all checks together, None for no limit; the user's own time does not count."""

    seconds: float | None = None
    spent: float = 0.0
    option: str = "--budget"  # what the user has set it with

    @contextmanager
    def spending(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.spent += time.perf_counter() - started

    @property
    def left(self) -> float | None:
        return None if self.seconds is None else max(self.seconds - self.spent, 0.0)

    @property
    def is_used_up(self) -> bool:
        return self.seconds is not None and self.spent >= self.seconds

    @property
    def reason(self) -> str:
        return (
            f"the budget of {self.seconds or 0:g} s was used up before this gradient; "
            f"a larger {self.option} reaches it"
        )

    @property
    def overrun_reason(self) -> str:
        """Why a check was given up that the end of the budget fell into."""
        return f"the check took longer than the {self.left or 0:.3g} s that were left of the budget ({self.option})"


def powers(occurrence: int) -> bool:
    """The 1st, 2nd, 10th, 100th ...: early faults at once, late ones at a cost that vanishes."""
    if occurrence <= 2:
        return True
    while occurrence % 10 == 0:
        occurrence //= 10
    return occurrence == 1


def every(occurrence: int) -> bool:
    del occurrence
    return True


def parse_checks(text: str) -> Policy:
    """`powers`, `all`, `first`, or a list of executions such as `1,5,20`."""
    named: dict[str, Policy] = {"powers": powers, "all": every, "first": lambda n: n == 1}
    if isinstance(text, str) and text in named:
        return named[text]
    numbers = text.split(",") if isinstance(text, str) else [""]
    if not all(number.strip().isdecimal() and int(number) > 0 for number in numbers):
        raise InvalidInput(
            "--checks takes `powers`, `all`, `first`, or executions counted from 1 such as `1,5,20`; "
            f"it was {text!r}"
        )
    wanted = {int(number) for number in numbers}
    return wanted.__contains__

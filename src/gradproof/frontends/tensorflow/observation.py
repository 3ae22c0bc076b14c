"""What an observer holds: the calls seen, the call sites, and what went wrong in here."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock

from gradproof.frontends.record.model import GradientCall, OpenTape
from gradproof.frontends.record.sites import Policy, Sites, by_powers_of_ten
from gradproof.frontends.tensorflow.eager.recorder import Recorder

Receiver = Callable[[GradientCall], None]


@dataclass(eq=False)
class TensorFlowObservation:
    """The result of `observe()`.

    `calls` holds the gradient calls that were looked at, in order, unless a `receiver` takes each as it
    comes. `executions` counts every execution of every gradient call, looked at or not. `failures` are
    faults of gradproof that could not be tied to one call; the user's program went on. `open_tapes()`
    gives the tapes that are still waiting to be asked, which is where a program that crashed has
    stopped. `try_rules()` runs the custom rules that the program left unused, which is for its end.
    `listen()` turns the listening on where it is wanted. `spend(work, failed)` does work on a call within the time
    that checks may take; where that is over, `failed(reason)` is all that is handed over of the call.
    """

    policy: Policy = by_powers_of_ten
    receiver: Receiver | None = None
    calls: list[GradientCall] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    executions: dict[Hashable, int] = field(default_factory=dict)
    recorder: Recorder = field(default_factory=Recorder)
    open_tapes: Callable[[], list[OpenTape]] = list
    listen: Callable[[], None] = lambda: None
    try_rules: Callable[[], list[GradientCall]] = list
    spend: Callable[[Callable[[], None], Callable[[str], GradientCall]], None] = lambda work, failed: work()

    def __post_init__(self) -> None:
        self.sites = Sites(self.policy)
        self._counting = Lock()

    def deliver(self, call: GradientCall) -> None:
        """Hand a finished record over; the receiver's own ops are not the user's, its failures neither."""
        if self.receiver is None:
            self.calls.append(call)
            return
        try:
            with self.recorder.silence():
                self.receiver(call)
        except Exception:
            self.note_failure()

    def build(
        self, work: Callable[[], GradientCall], failed: Callable[[str], GradientCall]
    ) -> GradientCall | None:
        """The record of a call, taken within the time there is; None where that was over, which is then told."""
        made: list[GradientCall] = []
        self.spend(lambda: made.append(work()), failed)
        return made[0] if made else None

    def count(self, key: Hashable) -> int:
        """One more execution of a gradient call; which one is it?"""
        with self._counting:  # several threads may execute one line
            self.executions[key] = self.executions.get(key, 0) + 1
            return self.executions[key]

    def recount(self) -> None:
        """Begin to count anew; the next tape is then wanted, and with it the ops that run before it."""
        self.sites.recount()
        self.executions.clear()
        self.recorder.background = True
        self.listen()

    def note_failure(self) -> str:
        """Keep the exception being handled: nothing of it may reach the program, and a report gets one sentence."""
        text = traceback.format_exc()
        self.failures.append(text)
        return f"a fault of gradproof ({text.strip().splitlines()[-1]}); please report it"

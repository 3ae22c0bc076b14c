"""Listening to the tapes of this process: every gradient they compute is handed on."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from gradproof.frontends.attachment import Policy, Receiver
from gradproof.frontends.record.sites import Sites
from gradproof.tape.announce import LISTENERS, Finished
from gradproof.tape.capture import to_captures, unread
from gradproof.tape.programs import UNKNOWN_PLACE


@dataclass(eq=False)
class _Observer:
    """Hands on the calls that the policy wants; the tapes record in any case."""

    receiver: Receiver
    sites: Sites
    failures: list[str] = field(default_factory=list)

    def listen(self, finished: Finished) -> None:
        site, is_wanted = self.sites.begin(finished.proof.span or UNKNOWN_PLACE)
        if not is_wanted:
            return
        occurrence = site.executions
        try:
            self.receiver(
                lambda: to_captures(finished, occurrence), lambda reason: unread(finished, reason, occurrence)
            )
        except Exception:
            self.failures.append(traceback.format_exc())

    def recount(self) -> None:
        self.sites.recount()


def begin(receiver: Receiver, policy: Policy) -> tuple[_Observer, Callable[[], None]]:
    observer = _Observer(receiver, Sites(policy))
    LISTENERS.append(observer.listen)
    return observer, partial(_remove, observer)


def _remove(observer: _Observer) -> None:
    if observer.listen in LISTENERS:
        LISTENERS.remove(observer.listen)

"""Attaching to the tapes of this process: every gradient they compute is handed on."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Lock

from gradproof.frontends.attachment import Attachment, Policy, Receiver, Skipped
from gradproof.ir.span import Span
from gradproof.tape.announce import LISTENERS, Finished
from gradproof.tape.capture import to_captures, unread
from gradproof.tape.programs import FRAMEWORK, UNKNOWN_PLACE


def attach(receiver: Receiver, policy: Policy) -> Attachment:
    """Hand on the calls that the policy wants; the tapes record in any case."""
    executions: Counter[Span] = Counter()
    skipped: Counter[Span] = Counter()
    failures: list[str] = []
    counting = Lock()  # several threads may execute one line

    def listen(finished: Finished) -> None:
        span = finished.proof.span or UNKNOWN_PLACE
        with counting:
            executions[span] += 1
            occurrence = executions[span]
            if not policy(occurrence):
                skipped[span] += 1
                return
        try:
            receiver(
                lambda: to_captures(finished, occurrence), lambda reason: unread(finished, reason, occurrence)
            )
        except Exception:
            failures.append(traceback.format_exc())

    LISTENERS.append(listen)
    return Attachment(
        FRAMEWORK,
        partial(_remove, listen),
        lambda: [Skipped(span, n) for span, n in skipped.items()],
        lambda: list(failures),
        recount=executions.clear,
    )


def _remove(listen: Callable[[Finished], None]) -> None:
    if listen in LISTENERS:
        LISTENERS.remove(listen)

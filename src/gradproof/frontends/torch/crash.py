"""The exception that ended a program that uses PyTorch: what it means for its gradients, at the user's line.

Those that came out of a gradient call which was listened to are told with the gradients that they prevented.
"""

from __future__ import annotations

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.frontends.attachment import Crash
from gradproof.frontends.record.source import span_of, users_place
from gradproof.frontends.torch.engine_errors import ENGINE_ERRORS
from gradproof.frontends.torch.known_errors import known_error

_RAISED = (RuntimeError, ValueError, TypeError, AttributeError, AssertionError)


def explain(error: BaseException, was_heard: bool = False) -> Crash | None:
    """None where it is no exception about gradients, was told already, or no line of the user's led to it."""
    place = users_place(error.__traceback__)
    also = () if was_heard else ENGINE_ERRORS
    known = known_error(str(error), also) if isinstance(error, _RAISED) else None
    if place is None or known is None or (was_heard and known.kind != CRASH):
        return None
    return Crash(
        Diagnostic(
            kind=known.kind,
            severity="error",
            certainty="measured",
            headline=known.headline,
            primary=Annotation(span_of(place), known.label),
            why=known.why,
            fix=Fix(known.fix),
        )
    )

"""Attaching to a program that uses JAX, or that may import it later."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, cast

from gradproof.frontends.attachment import Attachment, Crash, Policy, Receiver
from gradproof.frontends.record.attaching import attach_on_import
from gradproof.frontends.record.source import span_of
from gradproof.ir.span import Span

UNFINISHED = "the function that computes it could not be traced"

if TYPE_CHECKING:
    from gradproof.frontends.jax.observe.notes import Ending
    from gradproof.frontends.jax.observe.refusals import Refusal
    from gradproof.frontends.jax.observe.session import JaxSession


def attach(receiver: Receiver, policy: Policy) -> Attachment:
    """Listen as soon as JAX is there; it is not imported here."""

    def begin() -> tuple[JaxSession, Callable[[], None]]:
        # Only now: these modules import JAX.
        from gradproof.frontends.jax.observe.hooks import install
        from gradproof.frontends.jax.observe.session import JaxSession
        from gradproof.frontends.jax.read.calls import captures_of, unread_of
        from gradproof.frontends.jax.read.refused import capture_of

        def deliver(ending: Ending) -> None:
            receiver(lambda: captures_of(ending), lambda reason: unread_of(ending, reason))

        def refused(refusal: Refusal) -> None:
            capture = capture_of(refusal)
            receiver(lambda: [capture], lambda reason: capture)

        session = JaxSession(policy, deliver)
        return session, install(session, refused)

    return attach_on_import("jax", begin, _place, crashed=_crash, remarked=lambda session: session.remarks())


def _crash(session: JaxSession, error: BaseException) -> Crash | None:
    from gradproof.frontends.jax.crash import explain, explain_misuse
    from gradproof.frontends.jax.read.calls import unread_of
    from gradproof.frontends.jax.read.refused import capture_before

    if session.is_told(error):
        return Crash(explain_misuse(error))
    refused = capture_before(error)
    if refused is not None:
        return Crash(explain_misuse(error), (refused,))
    crash = explain(error)
    if crash is None:
        return None
    waiting = session.unfinished({frame.f_code for frame, _ in walk_tb(error.__traceback__)})
    return replace(crash, captures=tuple(unread_of(ending, UNFINISHED) for ending in waiting))


def _place(key: Hashable) -> Span | None:
    code, offset = cast(tuple[Any, int], key)
    if code is None:
        return None
    place = span_of((code, offset))
    return Span(place.file, place.line)

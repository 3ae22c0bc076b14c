"""Attaching to a program that uses TensorFlow, or that may import it later."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import CodeType
from typing import TYPE_CHECKING

from gradproof.frontends.attachment import Attachment, Crash, Policy, Receiver
from gradproof.frontends.record.attaching import attach_on_import
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span

if TYPE_CHECKING:
    from gradproof.frontends.record.model import GradientCall
    from gradproof.frontends.tensorflow.observation import TensorFlowObservation


def attach(receiver: Receiver, policy: Policy) -> Attachment:
    """Listen as soon as TensorFlow is there; it is not imported here."""

    def begin() -> tuple[TensorFlowObservation, Callable[[], None]]:
        # Only now: these modules import TensorFlow.
        from gradproof.frontends.assemble.captures import to_captures
        from gradproof.frontends.assemble.unread import unread
        from gradproof.frontends.tensorflow.hooks import install
        from gradproof.frontends.tensorflow.observation import TensorFlowObservation

        def deliver(call: GradientCall) -> None:
            receiver(lambda: to_captures(call), lambda reason: unread(call, reason))

        def spend(work: Callable[[], None], failed: Callable[[str], GradientCall]) -> None:
            """Preparing a record is checking too: its time counts, though there is nothing to examine yet."""
            is_heard = False

            def done() -> list[Capture]:
                nonlocal is_heard
                is_heard = True
                work()
                return []

            def given_up(reason: str) -> Capture:
                nonlocal is_heard
                is_heard = True
                return unread(failed(reason), reason)

            receiver(done, given_up)
            if not is_heard:  # nobody counts the time of what is asked for by ourselves, as after a crash
                work()

        observation = TensorFlowObservation(policy, deliver, spend=spend)
        return observation, install(observation)

    return attach_on_import("tensorflow", begin, _place, _tried, _crash)


def _tried(observation: TensorFlowObservation) -> Sequence[Capture]:
    from gradproof.frontends.assemble.captures import to_captures

    captures = [capture for call in observation.try_rules() for capture in to_captures(call)]
    return [replace(capture, run=replace(capture.run, was_tried=True)) for capture in captures]


def _crash(observation: TensorFlowObservation, error: BaseException) -> Crash | None:
    from gradproof.frontends.tensorflow.after.crash import explain

    return explain(observation, error)


def _place(key: Hashable) -> Span | None:
    """Where a site is: the user's line around a tape, or the text that stands for one in a function."""
    if isinstance(key, tuple) and len(key) == 4 and isinstance(key[2], CodeType):
        return Span(key[2].co_filename, int(key[3]))
    text = key[1] if isinstance(key, tuple) and key and key[0] == "function" else ""
    match = re.match(r"(.+?):(\d+)(?::\d+)? ", str(text))
    return None if match is None else Span(match[1], int(match[2]))

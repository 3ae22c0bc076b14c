"""Attaching to a program that uses TensorFlow, or that may import it later."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CodeType
from typing import TYPE_CHECKING, Any

from gradproof.frontends.attachment import Attachment, Crash, Policy, Receiver, Skipped
from gradproof.frontends.tensorflow.importing import on_import
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span

if TYPE_CHECKING:
    from gradproof.frontends.tensorflow.observation import Observation
    from gradproof.frontends.tensorflow.recording import GradientCall

FRAMEWORK = "tensorflow"


def attach(receiver: Receiver, policy: Policy) -> Attachment:
    """Listen as soon as TensorFlow is there; it is not imported here."""
    observations: list[Observation] = []
    failures: list[str] = []
    undo: list[Callable[[], None]] = []

    def install() -> None:
        try:
            undo.append(_install(receiver, policy, observations))
        except Exception:  # hooks that do not fit this TensorFlow must not cost the user the run
            failures.append(traceback.format_exc())

    undo.append(on_import(install))

    def remove() -> None:
        while undo:
            undo.pop()()

    def recount() -> None:
        for observation in observations:
            observation.recount()

    return Attachment(
        FRAMEWORK,
        remove,
        lambda: [skipped for observation in observations for skipped in _skipped(observation)],
        lambda: failures + [failure for observation in observations for failure in observation.failures],
        lambda: [capture for observation in observations for capture in _tried(observation)],
        lambda error: next((_crash(observation, error) for observation in observations), None),
        recount,
    )


def _tried(observation: Observation) -> Iterator[Capture]:
    from gradproof.frontends.tensorflow.captures import to_captures

    for call in observation.try_rules():
        for capture in to_captures(call):
            yield replace(capture, facts={**capture.facts, "tried": True})


def _crash(observation: Observation, error: BaseException) -> Crash | None:
    from gradproof.frontends.tensorflow.crash import explain

    return explain(observation, error)


def _install(receiver: Receiver, policy: Policy, observations: list[Observation]) -> Callable[[], None]:
    # Only now: these modules import TensorFlow.
    from gradproof.frontends.tensorflow.capture import unread
    from gradproof.frontends.tensorflow.captures import to_captures
    from gradproof.frontends.tensorflow.hooks import install
    from gradproof.frontends.tensorflow.observation import Observation

    def deliver(call: GradientCall) -> None:
        receiver(
            lambda: [_named(capture, call) for capture in to_captures(call)],
            lambda reason: _named(unread(call, reason), call),
        )

    observation = Observation(policy, deliver)
    observations.append(observation)
    return install(observation)


def _named(capture: Capture, call: GradientCall) -> Capture:
    """The capture with the exception of the call, if it raised one, among its facts."""
    if call.exception is None:
        return capture
    return replace(capture, facts={**capture.facts, "exception": call.exception})


def _skipped(observation: Observation) -> list[Skipped]:
    found = []
    for key, site in observation.sites.table.items():
        span = _place(key)
        if span is not None and site.skipped:
            found.append(Skipped(span, site.skipped, site.nonfinite_unchecked))
    return found


def _place(key: Any) -> Span | None:
    """Where a site is: the user's line around a tape, or the text that stands for one in a function."""
    if isinstance(key, tuple) and len(key) == 4 and isinstance(key[2], CodeType):
        return Span(key[2].co_filename, int(key[3]))
    text = key[1] if isinstance(key, tuple) and key and key[0] == "function" else ""
    match = re.match(r"(.+?):(\d+)(?::\d+)? ", str(text))
    return None if match is None else Span(match[1], int(match[2]))

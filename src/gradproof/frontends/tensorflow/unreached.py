"""Gradient calls inside functions of which no more is known than that they were made, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from gradproof.frontends.tensorflow.arguments import call_text
from gradproof.frontends.tensorflow.observation import Observation
from gradproof.frontends.tensorflow.recorder import numbers
from gradproof.frontends.tensorflow.recording import Api, GradientCall, Tape
from gradproof.frontends.tensorflow.traced import TracedGradient
from gradproof.ir.span import Span


def deliver_raised(
    observation: Observation,
    tape: Tape,
    spans: tuple[Span, ...],
    exception: str,
    when: str = " (while the function was traced)",
) -> None:
    """A gradient call that raised while its function was traced, which then never ran; or where there is no graph."""
    try:
        nameless = TracedGradient(
            "gradient", spans, call_text(spans), [], [], [], [], [], [], None, "none", tape, 0, 0
        )
        observation.count(nameless.key)
        call = failed_call(observation, nameless, f"{exception}{when}")
        observation.deliver(replace(call, exception=exception))
    except Exception:
        observation.note_failure()


def failed_call(observation: Observation, gradient: TracedGradient, reason: str) -> GradientCall:
    """All that can be said of a call whose program is not known."""
    return GradientCall(
        id=next(numbers),
        api=cast(Api, gradient.api),
        span=gradient.spans[0] if gradient.spans else None,
        stack=gradient.spans,
        through=gradient.through,
        occurrence=observation.executions.get(gradient.key, 1),
        mode="graph",
        tape=gradient.tape,
        targets=(),
        sources=(),
        observed=(),
        observed_from="interpreted",
        failure=reason,
    )

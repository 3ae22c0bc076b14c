"""Gradient calls inside functions of which no more is known than that they were made, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from tensorflow.python.framework import dtypes, tensor_shape

from gradproof.frontends.record.model import (
    NO_TENSOR,
    Api,
    GradientCall,
    Observed,
    Operand,
    Tape,
    Value,
)
from gradproof.frontends.tensorflow.eager.arguments import call_text
from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.tracing import GraphGradient
from gradproof.ir.span import Span


def deliver_raised(
    observation: TensorFlowObservation,
    tape: Tape,
    spans: tuple[Span, ...],
    exception: str,
    when: str = " (while the function was traced)",
) -> None:
    """A gradient call that raised while its function was traced, which then never ran; or where there is no graph."""
    try:
        nameless = GraphGradient(
            "gradient", spans, call_text(spans), [], [], [], [], [], [], None, "none", tape, 0, 0
        )
        observation.count(nameless.key)
        call = failed_call(observation, nameless, f"{exception}{when}")
        observation.deliver(replace(call, exception=exception))
    except Exception:
        observation.note_failure()


def failed_call(observation: TensorFlowObservation, gradient: GraphGradient, reason: str) -> GradientCall:
    """All that can be said of a call whose program is not known: who asked, for what, and which gradients were None."""
    values = [_unknown(leaf, reason) for leaf in gradient.sources]
    sources = tuple(map(Operand, gradient.source_names, values))
    seen = zip(gradient.results, values)
    return GradientCall(
        id=next(numbers),
        api=cast(Api, gradient.api),
        span=gradient.spans[0] if gradient.spans else None,
        stack=gradient.spans,
        through=gradient.through,
        occurrence=observation.executions.get(gradient.key, 1),
        mode="graph",
        tape=gradient.tape,
        targets=tuple(
            Operand(name, _unknown(leaf, reason))
            for name, leaf in zip(gradient.target_names, gradient.targets)
        ),
        sources=sources,
        observed=tuple(None if result is None else Observed(value) for result, value in seen),
        observed_from="interpreted",
        failure=reason,
        doubt=reason if sources else None,
    )


def _unknown(leaf: Any, reason: str) -> Value:
    """A tensor or variable of which no more is known than what it looks like."""
    dtype, shape = getattr(leaf, "dtype", None), getattr(leaf, "shape", None)
    axes = None if shape is None else tensor_shape.as_shape(shape)
    known = tuple(axes.as_list()) if axes is not None and axes.is_fully_defined() else None
    name = "none" if dtype is None else dtypes.as_dtype(dtype).base_dtype.name
    return Value(NO_TENSOR, name, known, unknown=reason)

"""A `stop_gradient` inside the library that cuts terms out of a derivative of a derivative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradproof.errors import GradproofError
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.second_order import VISIBLE, gradient_without


@dataclass(frozen=True)
class HiddenStop:
    """Where it is and in which function, and what the most changed entry of the gradient is with and without it.

    `is_neutral`: first derivatives are proven not to feel it, so that it cannot be meant to change the second.
    """

    span: Span | None
    function: str
    index: tuple[int, ...]
    held: float
    free: float
    is_neutral: bool = False


def find_hidden_stop(capture: Capture, source: int, true: Array) -> HiddenStop | None:
    """The first whose presence changes the gradient for a source; `true` takes each as the judge has taken it."""
    neutral = () if capture.again is None else capture.again.stops
    stops = neutral or tuple(capture.rules.hidden_stops)
    if not stops or not capture.rules.inner or np.iscomplexobj(true):
        return None
    try:
        other = gradient_without(capture, () if neutral else stops, source)
    except GradproofError:
        return None
    change = np.abs(other - true)
    if not np.isfinite(change).all() or change.max(initial=0.0) <= VISIBLE * np.abs(true).max(initial=0.0):
        return None
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(change)), change.shape))
    held, free = (other, true) if neutral else (true, other)
    assert capture.gradient_program is not None
    spans = ((id, capture.gradient_program[id].span) for id in sorted(stops))
    id, span = next(((id, span) for id, span in spans if span is not None), (min(stops), None))
    function = capture.rules.hidden_stops[id]
    return HiddenStop(span, function, index, float(held[index]), float(free[index]), bool(neutral))

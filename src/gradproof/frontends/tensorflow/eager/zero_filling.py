"""Zeros that TensorFlow puts in the place of None: where a call has no way to its source it does not always say so.

`batch_jacobian` returns zeros for a target that its tape has not seen computed, and the rule of `tf.py_function` a
single zero where the Python function did not stay in TensorFlow. To a reader both look like gradients.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.record.flow import descendants
from gradproof.frontends.record.model import GradientCall, Observed, Operand, OpEvent


def without_fillings(call: GradientCall) -> GradientCall:
    """The call with None where zeros only stand for it: the numbers have a way that the tape has not."""
    if call.unconnected_gradients == "zero" or not any(map(_is_zero, call.observed)):
        return call
    role = dialect_of(call.framework).role
    ran = [
        event for event in (*call.older, *call.events) if event.phase == "forward" and role(event) != "shape"
    ]
    followed = [
        event
        for event in ran
        if role(event) not in ("leave", "stop", "discrete")
        and (event.is_heard_by(call.tape) or event.scope is not None)
    ]
    filled = frozenset(
        k
        for k, (source, one) in enumerate(zip(call.sources, call.observed))
        if _may_be_filled(call, source, one)
        and _leads(ran, source, call.targets)
        and not _leads(followed, source, call.targets)
    )
    seen = tuple(None if k in filled else one for k, one in enumerate(call.observed))
    return replace(call, observed=seen, filled=filled)


def _may_be_filled(call: GradientCall, source: Operand, one: Observed | None) -> bool:
    """A Jacobian by rows, or a zero that has not even the shape of a gradient."""
    if not _is_zero(one):
        return False
    return call.api == "batch_jacobian" or (one is not None and one.values.shape != source.value.shape)


def _is_zero(one: Observed | None) -> bool:
    return one is not None and one.array is not None and not np.any(one.array)


def _leads(events: Iterable[OpEvent], source: Operand, targets: Iterable[Operand]) -> bool:
    """Whether ops lead from a source to a target."""
    events = sorted(events, key=lambda event: event.index)
    start = {source.value.id} | ({source.variable.id} if source.variable is not None else set())
    ends = {target.value.id for target in targets}
    return bool(descendants(events, start) & ends)

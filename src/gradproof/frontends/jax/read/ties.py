"""Whether a branch was chosen at a tie: the numbers that were compared for it are equal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradproof.frontends.record.model import OpEvent, Value
from gradproof.ir import types

_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
MOST_STEPS = 100  # from a comparison to the branch; a counter is followed back to its first turn otherwise


def is_chosen_at_a_tie(chosen: Value, makers: Mapping[int, OpEvent]) -> bool:
    """Whether some comparison of real numbers that decides for a branch is one of equal numbers.

    `makers` are the ops by the values they made. Between a comparison and the branch there are booleans and integers.
    """
    pending, seen = [chosen], set[int]()
    while pending and len(seen) < MOST_STEPS:
        value = pending.pop()
        event = makers.get(value.id)
        if event is None or value.id in seen:
            continue
        seen.add(value.id)
        if event.op in _COMPARISONS and types.is_real(event.inputs[0].dtype):
            a, b = (np.asarray(one.array) for one in event.inputs)
            if (a == b).any():
                return True
        pending += [one for one in event.inputs if types.is_discrete(one.dtype)]
    return False

"""Programs too deep for balls: the bounds of their numbers were lost from op to op, not in one of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.run import Run

# An op that loses more than six digits at once has cancelled, and more digits are what it needs. Depth takes them
# in small steps: a long sum of terms of either sign, the worst of them, costs about three.
AT_ONCE = 1e-6


def is_too_deep(result: Run) -> bool:
    """Whether balls know no digit of the target, and lost what they knew of it on a long way."""
    program = result.program
    output = program.outputs[0]
    value = program[output].value
    if value is None or not np.isfinite(value).all() or _uncertainty(result, output) <= 1.0:
        return False
    seen, waiting = {output}, [output]
    while waiting:
        inputs = program[waiting.pop()].inputs
        shares = {id: _uncertainty(result, id) for id in inputs}
        lost = [id for id, share in shares.items() if share > 1.0]
        if not lost and max(shares.values(), default=0.0) > AT_ONCE:
            return True
        waiting += [id for id in lost if id not in seen]
        seen.update(lost)
    return False


def _uncertainty(result: Run, id: int) -> float:
    """The largest radius of a node as a share of its largest entry; 0 for what is exact."""
    value = result.values[id]
    parts = value if isinstance(value, tuple) else (value,)
    return max((_share(result, part) for part in parts), default=0.0)


def _share(result: Run, value: Any) -> float:
    if isinstance(value, (np.ndarray, np.generic)):
        return 0.0  # of a discrete dtype
    mid, rad = result.m.domain.leave(value)
    widest = float(np.max(rad, initial=0.0))
    if widest == 0.0:
        return 0.0
    largest = float(np.max(np.abs(mid), initial=0.0))
    return widest / largest if largest > 0.0 and np.isfinite(widest) else np.inf

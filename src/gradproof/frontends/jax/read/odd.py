"""Whether a gradient needs a closer look: a quick comparison with the program's own derivative in floating point."""

from __future__ import annotations

import numpy as np

from gradproof.fixes.verify import rounded_gradients
from gradproof.ir.capture import Capture
from gradproof.ir.types import Array

NEAR = 1e-4  # of the largest entry; who is further off may be wrong, and is asked rule by rule
MOST_NODES = 3_000  # a larger program is not gone through again just in case


def is_odd(capture: Capture) -> bool:
    """No verdict: it only says whether the rules are worth their time."""
    if capture.program is None or len(capture.program.nodes) > MOST_NODES:
        return False
    asked = [
        (one.node, one.observed)
        for one in capture.sources
        if one.node is not None and one.observed is not None
    ]
    if not asked:
        return False
    try:
        expected = rounded_gradients(capture.program, [node for node, _ in asked])
    except Exception:  # no derivative in floating point: then every rule is worth a look
        return True
    return expected is None or any(_differs(seen, one) for (_, seen), one in zip(asked, expected))


def _differs(observed: Array, expected: Array | None) -> bool:
    if expected is None or expected.shape != observed.shape:
        return True
    wide = np.result_type(observed.dtype, expected.dtype, np.float64)
    with np.errstate(invalid="ignore"):  # infinities of one sign are compared below, and differ
        off = np.abs(np.subtract(observed, expected, dtype=wide))
    return not bool((off <= NEAR * np.abs(expected).max(initial=0.0)).all())

"""Whether a gradient needs a closer look: a quick comparison with the program's own derivative in floating point."""

from __future__ import annotations

import numpy as np

from gradproof.fixes.verify import rounded_gradient
from gradproof.ir.capture import Capture, Source

NEAR = 1e-4  # of the largest entry; who is further off may be wrong, and is asked rule by rule
MOST_NODES = 3_000  # a larger program is not gone through again just in case


def is_odd(capture: Capture) -> bool:
    """No verdict: it only says whether the rules are worth their time."""
    if capture.program is None or len(capture.program.nodes) > MOST_NODES:
        return False
    return any(_differs(capture, source) for source in capture.sources)


def _differs(capture: Capture, source: Source) -> bool:
    if source.observed is None or source.node is None or capture.program is None:
        return False
    try:
        expected = rounded_gradient(capture.program, source.node)
    except Exception:  # no derivative in floating point: then every rule is worth a look
        return True
    if expected is None or expected.shape != source.observed.shape:
        return True
    wide = np.result_type(source.observed.dtype, np.float64)
    with np.errstate(invalid="ignore"):  # infinities of one sign are compared below, and differ
        off = np.abs(source.observed.astype(wide) - expected.astype(wide))
    return not bool((off <= NEAR * np.abs(expected).max(initial=0.0)).all())

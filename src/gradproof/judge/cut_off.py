"""Zeros that a framework returns where nothing leads from a source to the target any more: numbers had left before.

Where another framework says None, these zeros look like a gradient. They are held against the gradient of the program
in which the numbers that left and came back are followed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.frameworks import framework
from gradproof.ir.capture import Capture
from gradproof.ir.program import ancestors
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options


def is_cut_off(capture: Capture, k: int) -> bool:
    """Whether all ways from a source to the target go through numbers that left, and zeros came back."""
    source, program, uncut = capture.sources[k], capture.program, capture.around.uncut
    if program is None or uncut is None or source.node is None or source.observed is None:
        return False
    if not framework(capture.framework).returns_zeros or uncut.nodes[k] is None or np.any(source.observed):
        return False
    return source.node not in ancestors(program, program.outputs)


def by_detour(capture: Capture, k: int, judgement: Judgement, options: Options) -> Judgement:
    """Wrong, where the function has a slope that these zeros are not."""
    uncut = capture.around.uncut
    if judgement.verdict is not Verdict.CORRECT or uncut is None or not is_cut_off(capture, k):
        return judgement
    node = uncut.nodes[k]
    assert node is not None
    (found,) = judge(Evidence(uncut.program, (node,), (capture.sources[k].observed,), (None,)), options)
    is_another = found.comparison is not None and found.comparison.outcome == "beyond"
    return replace(found, verdict=Verdict.WRONG, reason=None) if is_another else judgement

"""Labels of a cross entropy that do not sum to 1, where the rule of a library rests on it that they do."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.ir.capture import Pullback
from gradproof.ir.program import Program, ancestors

_FAR = 1e-3  # from 1: further than any rounding of labels that were normalised
NO_SUM = "its labels do not sum to 1"
SUM_TO_1 = "give labels that sum to 1 in every row: probabilities, not logits or counts"
_OPS = frozenset({"log_softmax", "logsumexp"})


def sum_of_labels(case: Case, pullback: Pullback) -> str | None:
    """What the labels of a row sum to, if the op is the cross entropy of a softmax and that is not 1; else None."""
    program = case.capture.gradient_program
    if program is None or len(pullback.inputs) != 2 or not _is_cross_entropy(program, pullback):
        return None
    values = [np.asarray(program[id].value) for id in pullback.inputs]
    if values[0].shape != values[1].shape or values[1].ndim == 0:
        return None
    sums = np.sum(values[1].astype(np.float64), axis=-1).reshape(-1)
    worst = float(sums[int(np.argmax(np.abs(sums - 1.0)))])
    return words.significant(worst, 4).removesuffix(".0") if abs(worst - 1.0) > _FAR else None


def of_labels(op: str, sums: str | None) -> str:
    """The headline; empty where the labels are not the reason."""
    return (
        sums and f"the labels sum to {sums}, and the gradient of `{op}` is right only where they sum to 1"
    ) or ""


def _is_cross_entropy(program: Program, pullback: Pullback) -> bool:
    inside = ancestors(program, pullback.outputs) - ancestors(program, pullback.inputs)
    return any(program[id].op in _OPS for id in inside)

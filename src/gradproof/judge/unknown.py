"""What in a program is no number: inputs and constants that are not finite, code that did not run."""

from __future__ import annotations

import numpy as np

from gradproof.judge.reference import Evidence


def has_unknown(evidence: Evidence) -> bool:
    """Whether NaN stands for code that did not run and whose result nobody knows.

    What has made the target infinite is known: a NaN would have made it NaN.
    """
    target = np.asarray(evidence.program[evidence.program.outputs[0]].value)
    if np.isinf(target).any():
        return False
    constants = (node for node in evidence.program.nodes if node.op == "constant" and not node.is_discrete)
    return any(bool(np.isnan(node.value).any()) for node in constants)


def all_finite(evidence: Evidence) -> bool:
    """Whether every input is a number."""
    nodes = (evidence.program[id] for id in evidence.program.inputs)
    return all(bool(np.isfinite(node.value).all()) for node in nodes if not node.is_discrete)


def is_nan_given(evidence: Evidence) -> bool:
    """Whether an input is NaN and has made the target NaN: nothing can be said of any gradient there."""
    inputs = (evidence.program[id] for id in evidence.program.inputs)
    return bool(np.isnan(np.asarray(evidence.program[evidence.program.outputs[0]].value)).any()) and any(
        bool(np.isnan(node.value).any()) for node in inputs if not node.is_discrete
    )


def has_finite_value(evidence: Evidence) -> bool:
    """Whether the target came out as a number; what is not one in its inputs may have been left out on purpose."""
    return bool(np.isfinite(np.asarray(evidence.program[evidence.program.outputs[0]].value)).all())


def has_infinity(evidence: Evidence) -> bool:
    """Whether a constant is infinite."""
    constants = (np.asarray(node.value) for node in evidence.program.nodes if node.op == "constant")
    return any(bool(np.isinf(value).any()) for value in constants if value.dtype.kind in "fc")

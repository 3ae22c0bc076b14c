"""What in a program is no number: inputs and constants that are not finite, code that did not run."""

from __future__ import annotations

import numpy as np

from gradproof.ir.program import Node, Program
from gradproof.judge.reference import Evidence
from gradproof.judge.verdict import Verdict

NO_NUMBER_GIVEN = "an input of the function is NaN or infinite"
NAN_CHOSEN = "the function has no value at this point: it is written to be NaN here"
NAN_GIVEN = "a constant of the function is NaN: it is no number, or stands for a branch that did not run"


def unknown_number(evidence: Evidence) -> str | None:
    """Why a target without a value says nothing: it was given what is no number, or NaN for nobody knows what."""
    if not all_finite(evidence):
        return NO_NUMBER_GIVEN
    return NAN_GIVEN if has_unknown(evidence) else None


def without_number(evidence: Evidence, unknown: str) -> tuple[Verdict, str]:
    """What a target is that is no number: undefined where it was written to be none."""
    is_written = unknown == NAN_GIVEN and nan_chosen(evidence.program) is not None
    return (Verdict.UNDEFINED, NAN_CHOSEN) if is_written else (Verdict.UNVERIFIED, unknown)


def has_unknown(evidence: Evidence) -> bool:
    """Whether NaN stands for code that did not run and whose result nobody knows.

    What has made the target infinite is known: a NaN would have made it NaN.
    """
    target = np.asarray(evidence.program[evidence.program.outputs[0]].value)
    if np.isinf(target).any():
        return False
    constants = (node for node in evidence.program.nodes if node.op == "constant" and not node.is_discrete)
    return any(bool(np.isnan(node.value).any()) for node in constants)


def nan_chosen(program: Program) -> Node | None:
    """The choice that gave the target its NaN, a constant that was written down; None if it came otherwise.

    What stands for code that did not run is never chosen: it would have run. Data with gaps are not NaN throughout.
    """
    waiting: list[tuple[Node, Node | None]] = [(program[program.outputs[0]], None)]
    seen = set[int]()
    while waiting:
        node, choice = waiting.pop()
        if node.op == "constant" and choice is not None and bool(np.isnan(node.value).all()):
            return choice
        seen.add(node.id)
        is_choice = node.op == "select"
        behind = (program[id] for id in node.inputs if id not in seen and _is_nan(program[id]))
        waiting += [
            (one, node if is_choice else choice)
            for one in behind
            if not is_choice or _is_chosen(program, node, one)
        ]
    return None


def _is_nan(node: Node) -> bool:
    value = np.asarray(node.value)
    return value.dtype.kind in "fc" and bool(np.isnan(value).any())


def _is_chosen(program: Program, choice: Node, given: Node) -> bool:
    """Whether the NaN of what a choice was given is in an entry that it has taken."""
    condition, first, _ = choice.inputs
    taken = np.asarray(program[condition].value, bool) == (given.id == first)
    return bool((np.isnan(np.asarray(given.value)) & taken).any())


def all_finite(evidence: Evidence) -> bool:
    """Whether every input is a number."""
    nodes = (evidence.program[id] for id in evidence.program.inputs)
    return all(bool(np.isfinite(node.value).all()) for node in nodes if not node.is_discrete)


def is_nan_given(evidence: Evidence) -> bool:
    """Whether an input is NaN and has made the target NaN: nothing can be said of any gradient there."""
    program = evidence.program
    return _is_nan(program[program.outputs[0]]) and any(_is_nan(program[id]) for id in program.inputs)


def has_finite_value(evidence: Evidence) -> bool:
    """Whether the target came out as a number; what is not one in its inputs may have been left out on purpose."""
    return bool(np.isfinite(np.asarray(evidence.program[evidence.program.outputs[0]].value)).all())


def has_infinity(evidence: Evidence) -> bool:
    """Whether a constant is infinite."""
    constants = (np.asarray(node.value) for node in evidence.program.nodes if node.op == "constant")
    return any(bool(np.isinf(value).any()) for value in constants if value.dtype.kind in "fc")

"""Runs a program that computes something else than before, in the user's framework, and judges its gradient anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.domains.ieee import Ieee
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.fixes.verify import rounded_gradient
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.verdict import Verdict

# A program and the node to differentiate for; None if it cannot be run.
Replay = Callable[[Program, int], Array | None]

MOST_SHOWN = 8  # entries of a gradient that are worth reading


@dataclass(frozen=True, eq=False)
class Tried:
    """A changed program with the values it has now, what was returned for it and by whom, and the verdict on that."""

    program: Program
    gradient: Array
    judgement: Judgement
    in_framework: bool

    @property
    def is_correct(self) -> bool:
        return self.judgement.verdict is Verdict.CORRECT

    @property
    def value(self) -> float:
        return float(np.real(np.asarray(self.program[self.program.outputs[0]].value)))


def tried(case: Case, program: Program, wrt: int, replay: Replay | None) -> Tried | None:
    """None where the program cannot be run, in the framework or here."""
    now = recomputed(program)
    if now is None:
        return None
    gradient = None if replay is None else replay(now, wrt)
    in_framework = gradient is not None
    gradient = rounded_gradient(now, wrt) if gradient is None else gradient
    if gradient is None or gradient.shape != now[wrt].shape:
        return None
    try:
        (judgement,) = judge(Evidence(now, (wrt,), (gradient,)), case.options)
    except GradproofError:
        return None
    return Tried(now, gradient, judgement, in_framework)


def recomputed(program: Program) -> Program | None:
    """Every node with the value that floating point gives it now; decisions are taken anew."""
    bare = replace(program, nodes=tuple(map(_bare, program.nodes)))
    try:
        with np.errstate(all="ignore"):
            values = run(Ieee(), bare, Policy(redecide=True)).values
    except (GradproofError, ValueError, TypeError, FloatingPointError):
        return None
    nodes = tuple(replace(node, value=values[node.id]) for node in program.nodes)
    return replace(program, nodes=nodes)


def _bare(node: Node) -> Node:
    return node if node.op in ("input", "constant") or node.is_opaque else replace(node, value=None)


def depends_on_opaque(program: Program, changed: Iterable[int]) -> bool:
    """Whether an op without a meaning comes after a change: what it would return then is not known."""
    reached = set(changed)
    for node in program.nodes:
        if any(id in reached for id in node.inputs):
            if node.is_opaque:
                return True
            reached.add(node.id)
    return False


def replayed_in(library: str) -> str:
    """What a replay may claim: the record was changed and run. The user's text with the patch was not."""
    return f"with this change the recorded ops, run in {library}, return"


def checked_text(case: Case, found: Tried, more: str = "") -> str:
    """`with this change the recorded ops, run in TensorFlow, return 0.5 in float32 ...` Empty where they were not."""
    if not found.in_framework:
        return ""
    name, dtype = words.framework_name(case.capture.framework), case.source.dtype
    comparison = found.judgement.comparison
    possible = types.digits_possible(dtype)
    digits = possible if comparison is None else comparison.digits
    right = words.whole_digits_text(digits, possible)
    return f"{replayed_in(name)} {_shown(found.gradient, dtype)}, right to {right}{more}."


def _shown(gradient: Array, dtype: str) -> str:
    if gradient.ndim > 1 or gradient.size > MOST_SHOWN:
        return f"a gradient in {dtype}"
    return f"{words.array_text(gradient, dtype)} in {dtype}"

"""What the recorded gradient program means in exact arithmetic: whether its rule is right, whatever was rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.refine import Enclosure, Unknown, refine
from gradproof.engine.run import Run
from gradproof.errors import BeyondMemory, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Node, Program, descendants, prune
from gradproof.ir.types import Array
from gradproof.ir.verify import describe
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.kinds import untested
from gradproof.judge.mistake import excused
from gradproof.judge.reference import Evidence, Reference
from gradproof.judge.rounded_numbers import by_rounded_numbers
from gradproof.ops import TABLE
from gradproof.options import Options

# A wrong rule is seldom off by less; rounding in an ill-conditioned op may well be.
ROUNDED_AWAY = 0.1
# An error of which a rule can have made no larger a share than this is one of rounding.
SHARE_OF_RULE = 2.0**-10


def recorded_meaning(evidence: Evidence, reference: Reference, options: Options) -> list[Comparison | None]:
    """What the recorded gradient program would return in exact arithmetic, compared with the true gradient.

    Within the tolerance, the rule is right and rounding is to blame; beyond it, more precision does not help. A rule
    to which more than half of the error is due is to blame however close to the tolerance it is.
    """
    recorded = evidence.recorded or (None,) * len(evidence.wrt)
    suspects = [
        k
        for k, comparison in enumerate(reference.comparisons)
        if comparison is not None and comparison.outcome == "beyond" and recorded[k] is not None
    ]
    meant: list[Comparison | None] = [None] * len(evidence.wrt)
    if evidence.gradient_program is None or not suspects:
        return meant
    outputs = [id for k in suspects if (id := recorded[k]) is not None]
    program = prune(evidence.gradient_program, outputs)
    if untested(program) is not None:
        return meant
    # A rule may decide by a number that rounding has spoilt, as "where the distance is 0": with more precision it
    # decides otherwise. A decision that repeats one of the function's own is the branch that was taken. Both are meant.
    for version in dict.fromkeys((program, with_open_decisions(program))):
        open_ = [k for k in suspects if (one := meant[k]) is None or one.outcome != "within"]
        if open_:
            found = _compared(
                version, {k: outputs[suspects.index(k)] for k in open_}, evidence, reference, options
            )
            meant = [found.get(k, one) for k, one in enumerate(meant)]
    open_ = [k for k in suspects if (one := meant[k]) is not None and one.outcome == "beyond"]
    explained = by_rounded_numbers(program, {k: outputs[suspects.index(k)] for k in open_}, reference)
    return [_within(one) if k in explained and one is not None else one for k, one in enumerate(meant)]


def _within(comparison: Comparison) -> Comparison:
    return replace(comparison, outcome="within")


def _compared(
    program: Program, outputs: Mapping[int, int], evidence: Evidence, reference: Reference, options: Options
) -> dict[int, Comparison]:
    """What the program computes for some of the sources, in exact arithmetic, beside their true gradients."""
    dtype = _coarsest(evidence.program, evidence.wrt)
    allowed = {k: _half_of(reference.comparisons[k], dtype, options) for k in outputs}
    found: list[Comparison] = []
    unknown = Unknown()

    def measure(result: Run) -> Sequence[Any]:
        return [result.values[id] for id in outputs.values()]

    def is_decided(enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        found[:] = [
            _beside(exact, reference.enclosures[k], evidence.observed[k], dtype, allowed[k])
            for k, exact in zip(outputs, enclosures)
        ]
        unknown.see(enclosures, result)
        settled = ("within", "beyond", "unbounded") if unknown.stays else ("within", "beyond")
        return all(comparison.outcome in settled for comparison in found)

    try:
        refine(program, measure, is_decided, options)
    except (NotSupported, BeyondMemory):
        return {}
    return {
        k: comparison
        for k, comparison in zip(outputs, found)
        if comparison.outcome != "unbounded" or unknown.stays
    }


def _beside(
    exact: Enclosure, true: Enclosure, observed: Array | None, dtype: str, options: Options
) -> Comparison:
    found = compare(exact.mid, _widened(true, exact), dtype, options)
    is_rounded = found.outcome == "undecided" and observed is not None and _is_rounded(exact, true, observed)
    return _within(found) if is_rounded else found


def _is_rounded(exact: Enclosure, true: Enclosure, observed: Array) -> bool:
    """Whether the rule has but a small share in what the gradient is off by, entry by entry.

    A true gradient that may be zero, as at the end of a fit, has no size that a rule could be measured against.
    """
    of_rule = np.abs(exact.mid - true.mid) + exact.rad + true.rad
    off = np.abs(observed - true.mid) - true.rad
    return bool((off > 0.0).any() and (of_rule <= SHARE_OF_RULE * off)[off > 0.0].all())


def _half_of(comparison: Comparison | None, dtype: str, options: Options) -> Options:
    """The tolerance for a rule: of an error hardly beyond it half, but for what rounded constants explain."""
    assert comparison is not None
    least = min(options.tolerance(dtype), max(comparison.relative_error / 2, excused()[dtype]))
    return replace(options, tolerances={**options.tolerances, dtype: least})


def rounded_in_the_dark(evidence: Evidence, k: int, comparison: Comparison) -> str | None:
    """Why a gradient that is a little off cannot be judged: a backward op without an exact meaning may have rounded.

    Its recorded value stands for it in what the program means, with whatever rounding there was in it.
    """
    recorded = evidence.recorded[k] if evidence.recorded else None
    if evidence.gradient_program is None or recorded is None or comparison.relative_error >= ROUNDED_AWAY:
        return None
    nodes = prune(evidence.gradient_program, [recorded]).nodes
    unknown = (node for node in nodes if node.is_opaque and node.phase == "backward" and not node.is_discrete)
    op = next(map(describe, unknown), None)
    return (
        None
        if op is None
        else (
            f"the gradient differs from the true one, but {op} ran backwards and has no exact meaning here, so that "
            "rounding and a wrong rule cannot be told apart"
        )
    )


def with_open_decisions(program: Program) -> Program:
    """The program with what its backward ops have decided by computed numbers left to be decided anew."""
    if not any(map(_is_decided_backward, program.nodes)):
        return program
    nodes = (replace(node, value=None) if _is_decided_backward(node) else node for node in program.nodes)
    return replace(program, nodes=tuple(nodes))


def _is_decided_backward(node: Node) -> bool:
    return node.phase == "backward" and node.is_discrete and node.op in TABLE


def _coarsest(program: Program, wrt: Sequence[int]) -> str:
    """The dtype with the fewest digits between the sources and the target.

    The constants of the derivative are rounded to it, which is not the fault of the rule; a rule that is narrower than
    its function is. What is computed beside that path, as places in float32 are, rounds no constant of the rule.
    """
    dtypes = (program[id].dtype for id in descendants(program, wrt))
    return min(
        (one for one in dtypes if types.is_real(one) or types.is_complex(one)), key=types.precision_bits
    )


def _widened(enclosure: Enclosure, by: Enclosure) -> Enclosure:
    return Enclosure(enclosure.mid, enclosure.rad + by.rad)

"""From what was observed to one of the seven verdicts, per gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradproof.engine.refine import Enclosure, Refined, entry_count, gradient_measure, refine
from gradproof.engine.run import Run
from gradproof.engine.terms import term_sizes
from gradproof.errors import BeyondMemory, NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program, prune
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

Array = np.ndarray[Any, Any]
Oracle = Literal["ball", "limit", "sides", "none"]


@dataclass(frozen=True)
class Judgement:
    """The verdict on one gradient and the evidence for it."""

    verdict: Verdict
    oracle: Oracle
    reason: str | None  # why it is unverified, or undefined
    reference: Enclosure | None
    comparison: Comparison | None
    rung: str | None = None
    one_sided: tuple[Array, Array] | None = None  # slopes from below and above, where they differ


@dataclass(frozen=True)
class Evidence:
    """What the judge needs: the program, what was observed, and, where the framework's own ran, its gradient program.

    `program` computes a scalar; `wrt` are the nodes it was differentiated for; `observed` the gradients returned,
    None where there was none. `gradient_program` has the backward ops that really ran; `recorded` are its nodes
    that hold the observed gradients.
    """

    program: Program
    wrt: tuple[int, ...]
    observed: tuple[Array | None, ...]
    recorded: tuple[int | None, ...] = ()
    gradient_program: Program | None = None


def judge(evidence: Evidence, options: Options) -> tuple[Judgement, ...]:
    """One judgement per source; what cannot be decided is unverified, with its reason."""
    try:
        refined, comparisons = _reference(evidence, options)
    except (NoDerivative, NotSupported, BeyondMemory) as error:
        return tuple(_without_reference(observed, str(error)) for observed in evidence.observed)
    recorded = _recorded_meaning(evidence, refined, comparisons, options)
    return tuple(
        _verdict(k, evidence, refined, comparisons[k], recorded) for k in range(len(evidence.wrt))
    )


def _reference(evidence: Evidence, options: Options) -> tuple[Refined, list[Comparison | None]]:
    """Climb until every observed gradient is decided, and, where that is cheap, until the reference is sharp."""
    found: list[Comparison | None] = []
    sharp_wanted = entry_count(evidence.program) <= CHEAP_ENTRIES

    def is_decided(enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        found[:] = _comparisons(evidence, enclosures, result, options)
        decided = all(c is None or c.outcome in ("within", "beyond", "nonfinite") for c in found)
        return decided and (not sharp_wanted or all(map(_is_sharp, enclosures)))

    refined = refine(evidence.program, gradient_measure(evidence.wrt), is_decided, options)
    return refined, found


# Up to this many numbers in a program the second rung takes well under a second, so the report may as well
# show the true gradient to all digits of a float64.
CHEAP_ENTRIES = 20_000
SHARP = 1e-12


def _is_sharp(enclosure: Enclosure) -> bool:
    if not enclosure.is_bounded or enclosure.mid.size == 0:
        return True  # more precision is not what is missing
    floor = SHARP * SHARP * float(np.abs(enclosure.mid).max())
    return bool((enclosure.rad <= SHARP * np.abs(enclosure.mid) + floor).all())


def _comparisons(
    evidence: Evidence, enclosures: tuple[Enclosure, ...], result: Run, options: Options
) -> list[Comparison | None]:
    found = [
        None if observed is None else compare(observed, enclosure, _dtype(observed), options)
        for observed, enclosure in zip(evidence.observed, enclosures)
    ]
    if all(c is None or c.outcome in ("within", "nonfinite") for c in found):
        return found
    # Only now are the sizes of the terms worth a second sweep: a true gradient of zero may be among them.
    sizes = term_sizes(result, evidence.wrt)
    return [
        c if c is None or observed is None or c.outcome not in ("beyond", "undecided")
        else compare(observed, enclosure, _dtype(observed), options, size)
        for c, observed, enclosure, size in zip(found, evidence.observed, enclosures, sizes)
    ]


def _dtype(observed: Array) -> str:
    return types.dtype_name(observed)


def _recorded_meaning(
    evidence: Evidence, refined: Refined, comparisons: Sequence[Comparison | None], options: Options
) -> list[Comparison | None]:
    """What the recorded gradient program would return in exact arithmetic, compared with the true gradient.

    Within the tolerance, the rule is right and rounding is to blame; beyond it, more precision does not help.
    """
    recorded = evidence.recorded or (None,) * len(comparisons)
    suspects = [k for k, c in enumerate(comparisons) if c is not None and c.outcome == "beyond" and recorded[k] is not None]
    none: list[Comparison | None] = [None] * len(comparisons)
    if evidence.gradient_program is None or not suspects:
        return none
    outputs = [id for k in suspects if (id := recorded[k]) is not None]
    found: list[Comparison] = []

    def measure(result: Run) -> Sequence[Any]:
        return [result.values[id] for id in outputs]

    def is_decided(enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        found[:] = [
            compare(meant.mid, _sum(refined.enclosures[k], meant), _dtype_of(evidence, k), options)
            for k, meant in zip(suspects, enclosures)
        ]
        return all(comparison.outcome in ("within", "beyond") for comparison in found)

    try:
        refine(prune(evidence.gradient_program, outputs), measure, is_decided, options)
    except (NotSupported, BeyondMemory):
        return none
    for k, comparison in zip(suspects, found):
        none[k] = comparison
    return none


def _dtype_of(evidence: Evidence, k: int) -> str:
    observed = evidence.observed[k]
    assert observed is not None
    return _dtype(observed)


def _sum(reference: Enclosure, meant: Enclosure) -> Enclosure:
    """The reference, widened by the radius of what it is compared with."""
    return Enclosure(reference.mid, reference.rad + meant.rad)


def _verdict(
    k: int, evidence: Evidence, refined: Refined, comparison: Comparison | None, recorded: Sequence[Comparison | None]
) -> Judgement:
    reference = refined.enclosures[k]

    def judgement(verdict: Verdict, reason: str | None = None) -> Judgement:
        return Judgement(verdict, "ball", reason, reference, comparison, refined.rung)

    if comparison is None:
        return judgement(Verdict.MISSING)
    if comparison.outcome == "within":
        return judgement(Verdict.CORRECT)
    if comparison.outcome == "nonfinite":
        return judgement(Verdict.NONFINITE)
    if comparison.outcome == "unbounded":
        return judgement(Verdict.UNVERIFIED, "exact arithmetic finds no bound for the gradient at this point")
    if comparison.outcome == "undecided":
        return judgement(Verdict.UNVERIFIED, refined.reason)
    meant = recorded[k]
    if meant is None:
        return judgement(Verdict.UNVERIFIED, "the gradient differs from the true one, but the backward ops were not "
                         "recorded, so rounding and a wrong rule cannot be told apart")
    if meant.outcome == "within":
        return judgement(Verdict.INACCURATE)
    if meant.outcome == "beyond":
        return judgement(Verdict.WRONG)
    return judgement(Verdict.UNVERIFIED, "the recorded gradient program has no bounded meaning in exact arithmetic")


def _without_reference(observed: Array | None, reason: str) -> Judgement:
    if observed is None:
        return Judgement(Verdict.MISSING, "none", reason, None, None)
    return Judgement(Verdict.UNVERIFIED, "none", reason, None, None)

"""Judgements that need no comparison of numbers: what was never computed, is empty, has another shape, was not seen."""

from __future__ import annotations

import numpy as np

from gradproof.blackbox.numerical_check import NumericalCheck
from gradproof.engine.refine import Enclosure
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict


def undecided(reason: str | None) -> Judgement:
    return Judgement(Verdict.UNVERIFIED, "none", reason or "nothing is known about this call", None, None)


def missing(reason: str | None) -> Judgement:
    return Judgement(Verdict.MISSING, "none", reason, None, None)


def misshapen(found: str, wanted: str) -> Judgement:
    """A gradient has the shape of its source; one that has not is wrong, whatever its numbers are."""
    reason = f"it has shape {found}, and the gradient has shape {wanted}"
    return Judgement(Verdict.WRONG, "none", reason, None, None)


def empty(shape: tuple[int, ...]) -> Judgement:
    """A derivative without entries is right as it is."""
    return Judgement(Verdict.CORRECT, "ball", None, Enclosure(np.zeros(shape), np.zeros(shape)), None)


def by_differences(check: NumericalCheck) -> Judgement:
    """What a check by differences says of a gradient. Where its step is to blame nothing is known."""
    if check.verdict == "agrees":
        return Judgement(Verdict.CORRECT, "differences", None, None, None)
    is_wrong = check.verdict == "disagrees" and check.cause is None
    verdict = Verdict.WRONG if is_wrong else Verdict.UNVERIFIED
    return Judgement(verdict, "differences", check.reason, None, None)

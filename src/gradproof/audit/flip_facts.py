"""Decisions that rounding took otherwise, looked for once for all gradients of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.flips import OtherBranches, flips
from gradproof.domains.ball import BallDomain
from gradproof.engine.margins import Decision, margins
from gradproof.engine.refine import entry_count
from gradproof.engine.run import Run, run
from gradproof.errors import GradproofError
from gradproof.judge.call import JudgedCall
from gradproof.judge.reference import CHEAP_ENTRIES, Reference
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

CLEAR_BITS = 256  # enough to tell any two numbers of a float64 program apart, short of a tie

_ASKED = (Verdict.CORRECT, Verdict.INACCURATE, Verdict.WRONG)


class FlipFacts:
    """The runs that one judged call needs, each made when the first of its gradients asks for it."""

    def __init__(self, judged: JudgedCall) -> None:
        nodes = (source.node for source in judged.capture.sources)
        self._wrt = tuple({node: None for node in nodes if node is not None})
        self._known: dict[int, tuple[Reference, OtherBranches, Sequence[Decision]]] = {}

    def __call__(self, case: Case) -> Case:
        reference, own, source = case.judgement.reference, case.judgement.enclosure, case.source.node
        if reference is None or own is None or source is None or case.verdict not in _ASKED:
            return case
        others, decisions = self._of(reference, case.options)
        found = flips(others, decisions, source, own, case.options)
        return replace(case, irregular=replace(case.irregular, flips=found))

    def _of(self, reference: Reference, options: Options) -> tuple[OtherBranches, Sequence[Decision]]:
        key = id(reference)  # which is kept, so that no other one gets its id
        if key not in self._known:
            proven, decisions = _clear_decisions(reference, options)
            wrt = [node for node in self._wrt if node in proven.values]
            self._known[key] = reference, OtherBranches(proven, wrt), decisions
        return self._known[key][1:]


def _clear_decisions(reference: Reference, options: Options) -> tuple[Run, Sequence[Decision]]:
    """The margins of all decisions, in a higher precision if that of the verdict leaves one of them open."""
    proven, decisions = reference.run, reference.decisions
    is_open = any(bool(decision.is_unclear.any()) for decision in decisions)
    if not is_open or reference.refined.precision_bits > 53 or entry_count(proven.program) > CHEAP_ENTRIES:
        return proven, decisions
    try:
        precise = run(BallDomain(min(CLEAR_BITS, options.precision_cap_bits)), proven.program)
    except GradproofError:
        return proven, decisions
    return precise, margins(precise)

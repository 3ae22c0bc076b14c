"""What is said of hand-written rules that never ran in the program and were tried after its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.words import array_text
from gradproof.errors import GradproofError
from gradproof.ir.capture import Scope
from gradproof.judge.custom import rule_of
from gradproof.judge.rule import read
from gradproof.judge.verdict import Verdict


def were_tried(case: Case) -> bool:
    return case.verdict is Verdict.MISSING and case.capture.run.was_tried


def with_notes(case: Case, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """A wrong rule has a diagnostic of its own, a warning as it has spoilt nothing yet; others get a note."""
    if not were_tried(case) or not diagnostics:
        return diagnostics
    kind = None if case.source.missing is None else case.source.missing.kind
    lowered = [d if d.kind == kind or d.rank < 2 else replace(d, severity="warning") for d in diagnostics]
    first, *others = sorted(lowered, key=lambda diagnostic: -diagnostic.rank)
    return replace(first, notes=(*first.notes, *_notes(case))), *others


def _notes(case: Case) -> Iterator[str]:
    wrong = {fault.scope.id for fault in case.rules.mistakes}
    for scope in case.capture.rules.scopes:
        if scope.complaint is not None:
            yield (
                f"the hand-written gradient of `{scope.name}` never ran here; when it does, "
                f"it fails with {scope.complaint}"
            )
        elif scope.id not in wrong:
            yield from _is_right(case, scope)


def _is_right(case: Case, scope: Scope) -> Iterator[str]:
    program = case.capture.gradient_program
    rule = None if program is None else rule_of(program, scope)
    if rule is None:
        return
    try:
        here = read(rule, rule.here, exact=True)
    except GradproofError:
        return
    meant = here.meant[0]
    if here.is_finite and meant is not None:
        shown = array_text(np.asarray(meant.mid, np.float64), rule.program[rule.inputs[0]].dtype)
        yield (
            f"the hand-written gradient of `{scope.name}` never ran here; tried alone with an upstream gradient of 1 "
            f"it returns {shown}, which is the derivative"
        )

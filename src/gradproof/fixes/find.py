"""Another way of writing a function that keeps its digits, and what a derivative rule should return: found for a case.

Both say what the cause is, so that they are looked for before the causes are asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.loss import find_loss
from gradproof.engine.refine import entry_count
from gradproof.fixes.aim import EQUAL, EQUAL_PART, MASKED, aim_of, checked_digits
from gradproof.fixes.allowance import deadline, is_in_vain, note_in_vain
from gradproof.fixes.conditioning import is_sensitive
from gradproof.fixes.derivative import derived
from gradproof.fixes.neighbourhood import around, in_the_whole
from gradproof.fixes.patch import patch_of
from gradproof.fixes.search import MOST_COMPILED, SECONDS, WORTH, Aim, reached
from gradproof.fixes.tried import Replay
from gradproof.fixes.verify import MOST_ENTRIES, is_equal
from gradproof.ir.program import Program, descendants
from gradproof.judge.verdict import Verdict

MOST_NODES = 2000  # in larger programs the search would take longer than the check itself: a part is cut out
MOST_PROVEN = 8  # candidates for which the proof of equality is tried


def with_fix(case: Case, replay: Replay | None) -> Case:
    """The case with the best formula that was run: equal in exact arithmetic, half of the lost digits or more back.

    `replay` runs a program in the user's framework.
    """
    program = case.capture.program
    if program is None:
        return case
    is_frozen = bool(case.rules.suspicions) and case.verdict is not Verdict.CORRECT
    if case.rules.mistakes or is_frozen or _is_difference(case):
        case = replace(case, remedy=replace(case.remedy, rule_fix=derived(case)))
        if case.verdict is not Verdict.MISSING:  # a gradient that is missing has a fault of its own besides
            return case
    aim = aim_of(case)
    if aim is None or case.irregular.kind == MASKED:
        return case
    if case.mode_fault is not None and replay is not None:
        aim = replace(aim, run=replay, most_tried=MOST_COMPILED)  # only the mode itself shows what it spoils
    if case.verdict is Verdict.MISSING:
        # A replay runs the framework's own rules; what a rule of the user's returns it does not show.
        has_rules = bool(case.capture.rules.scopes)
        seen = "" if has_rules else checked_digits(case, program, aim, replay)
        return replace(case, remedy=replace(case.remedy, replayed=seen or ""))
    best = best_formula(case, program, aim, replay)
    if best is not None:
        return replace(case, remedy=replace(case.remedy, fix=best, is_formula=True))
    is_problem = case.verdict is Verdict.INACCURATE and is_sensitive(case, program)
    return replace(case, remedy=replace(case.remedy, is_problem=is_problem))


def best_formula(case: Case, program: Program, aim: Aim, replay: Replay | None) -> Fix | None:
    """The formula with the most digits; one that can be shown in the user's own lines is worth a little accuracy."""
    # A call that asks for many gradients has one formula, and the ways of writing it at one place are the same for all
    # that come through it. One that only meets its value there may keep digits which those lose.
    suspects = frozenset(node.span for node in program.nodes if node.id in aim.places)
    comes_through = not descendants(program, [aim.gradients.wrt]).isdisjoint(aim.places)
    place = case.capture.call, case.capture.run.occurrence, suspects, comes_through
    if is_in_vain(place):
        return None
    seconds = SECONDS if case.options.seconds is None else min(SECONDS, case.options.seconds / 2)
    now = time.thread_time()
    until = now + min(seconds, (deadline() - now) / 2)  # the other half is for the proof
    found = list(_offers(case, program, aim, replay, until))
    if found:
        return max(found, key=lambda offer: offer[0] + WORTH * bool(offer[1].patch))[1]
    if time.thread_time() < until:
        note_in_vain(place)
    return None


def _is_small(program: Program) -> bool:
    return len(program.nodes) <= MOST_NODES and 2 * entry_count(program) <= MOST_ENTRIES


def _is_difference(case: Case) -> bool:
    loss = find_loss(case) if case.verdict is Verdict.INACCURATE else None
    return loss is not None and loss.kind == "step-size"


def _offers(
    case: Case, program: Program, aim: Aim, replay: Replay | None, until: float
) -> Iterator[tuple[float, Fix]]:
    """Fixes with their digits: the best first, then others nearly as good if it cannot be shown as a patch."""
    best: float | None = None
    searched = (program, aim) if _is_small(program) else around(program, aim)
    if searched is None:
        return
    (part, near), is_whole = searched, searched[0] is program
    for found in reached(part, near, deadline=until)[:MOST_PROVEN]:
        if best is not None and found.digits < best - WORTH:
            return
        if not is_equal(part, found.program, near.gradients.wrt, min(until + SECONDS, deadline())):
            continue
        candidate = found if is_whole else in_the_whole(program, part, found)
        if candidate is None:
            continue
        proven = EQUAL if is_whole else EQUAL_PART
        checked = checked_digits(case, candidate.program, aim, replay, proven)
        if checked is None:
            continue
        patch = patch_of(program, candidate.program, candidate.nodes, case.sources, case.capture.framework)
        text = "" if patch is None else patch.text
        yield candidate.digits, Fix(candidate.text, text, checked, candidate.elsewhere, is_equal=True)
        best = candidate.digits if best is None else best
        if patch is not None:
            return

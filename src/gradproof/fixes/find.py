"""From a case to the fix that is offered: rewritten, proven equal, run, and put into words."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.flow import forward_op
from gradproof.diagnosis.loss import find_loss
from gradproof.diagnosis.tables import tables
from gradproof.engine.refine import entry_count
from gradproof.fixes.conditioning import is_sensitive
from gradproof.fixes.derivative import derived
from gradproof.fixes.dtype import with_more_digits
from gradproof.fixes.graph import Graph
from gradproof.fixes.guard import guard_patch, guards
from gradproof.fixes.left import kept_inside
from gradproof.fixes.open_way import unstopped
from gradproof.fixes.patch import patch_of
from gradproof.fixes.pattern import MOVES
from gradproof.fixes.rewrite import rewrites
from gradproof.fixes.rule import Rule
from gradproof.fixes.search import SECONDS, WORTH, Aim, Candidate, reached
from gradproof.fixes.shape import flattened
from gradproof.fixes.substitute import substituted
from gradproof.fixes.tried import Replay
from gradproof.fixes.verify import MOST_ENTRIES, N_NEARBY, Gradients, is_equal, rounded_gradient, tightened
from gradproof.fixes.widen import widened
from gradproof.ir import types
from gradproof.ir.program import Program, descendants
from gradproof.judge.verdict import Verdict

Array = np.ndarray[Any, Any]

MOST_NODES = 2000  # in larger programs the search would take longer than the check itself
_MASKED = "masked-branch"
_RULES = (
    "framework-rule",
    "custom-gradient",
    "step-size",
)  # a derivative rule lost the digits, not the formula
_SINGULAR = ("singular-point", "invalid-domain")
_UNSEEN = ("not-watched", "outside-tape", "reassigned-variable")
_ROUNDING = ("overflow", "underflow", "cancellation")  # the ways to a NaN that another way of writing avoids
MOST_PROVEN = 8  # candidates for which the proof of equality is tried


def with_fix(case: Case, replay: Replay | None) -> Case:
    """The case with the best change that was run: equal in exact arithmetic, half of the lost digits or more back.

    `replay` runs a program in the user's framework.
    """
    program = case.capture.program
    if program is None:
        return case
    digits = _in_place(case, program, replay)
    if digits is not None:
        return replace(case, fix=digits)
    if len(program.nodes) > MOST_NODES:
        aim = _aim(case) if case.verdict is Verdict.INACCURATE else None
        return case if aim is None else replace(case, fix=_in_wider_dtype(case, program, aim, replay))
    if 2 * entry_count(program) > MOST_ENTRIES:  # no change could be proven equal in the time there is
        return case
    is_frozen = bool(case.suspicions) and case.verdict is not Verdict.CORRECT
    if case.mistakes or is_frozen or _is_difference(case):
        case = replace(case, rule_fix=derived(case))
        if case.verdict is not Verdict.MISSING:  # a gradient that is missing has a fault of its own besides
            return case
    if _has_no_slope(case):
        return replace(case, fix=substituted(case, replay))
    if case.verdict is Verdict.MISSING and (cut := _of_a_cut_way(case, replay)) is not None:
        return replace(case, fix=cut)
    if case.verdict is Verdict.CORRECT:
        return replace(case, fix=_of_a_correct_one(case, program, replay))
    aim = _aim(case)
    if aim is None:
        return case
    if case.verdict is Verdict.MISSING:
        # A replay runs the framework's own rules; what a rule of the user's returns it does not show.
        has_rules = bool(case.capture.scopes)
        return (
            case
            if has_rules
            else replace(case, replayed=_checked(case, program, aim, replay, equal=False) or "")
        )
    if case.nonfinite is not None and case.nonfinite.kind == _MASKED:
        return replace(case, fix=_guarded(case, program, aim, replay))
    started = time.monotonic()
    seconds = SECONDS if case.options.seconds is None else min(SECONDS, case.options.seconds / 2)
    found = list(_offers(case, program, aim, replay, started + seconds))
    if found:
        # A change that can be shown in the user's own lines is worth a little accuracy.
        best = max(found, key=lambda offer: offer[0] + WORTH * bool(offer[1].patch))[1]
        return replace(case, fix=best, is_formula=True)
    is_problem = case.verdict is Verdict.INACCURATE and is_sensitive(case, program)
    return replace(case, fix=_in_wider_dtype(case, program, aim, replay), is_problem=is_problem)


def _is_difference(case: Case) -> bool:
    loss = find_loss(case) if case.verdict is Verdict.INACCURATE else None
    return loss is not None and loss.kind == "step-size"


def _in_place(case: Case, program: Program, replay: Replay | None) -> Fix | None:
    """Digits that a narrow dtype costs at one place: these are kept there, however long the program is."""
    if case.verdict is not Verdict.INACCURATE or entry_count(program) > MOST_ENTRIES:
        return None
    loss = find_loss(case)
    if loss is None or loss.kind not in ("low-precision", "accumulation"):
        return None
    return with_more_digits(case, loss, replay)


def _has_no_slope(case: Case) -> bool:
    """A corner, a step, an infinite slope, or no value at all: no other way of writing the function mends that."""
    if case.verdict is Verdict.UNVERIFIED:
        return case.lacks_a_value
    singular = case.nonfinite is not None and case.nonfinite.kind in _SINGULAR
    return case.verdict is Verdict.UNDEFINED or (case.verdict is Verdict.NONFINITE and singular)


def _of_a_cut_way(case: Case, replay: Replay | None) -> Fix | None:
    kind = None if case.source.missing is None else case.source.missing.kind
    if kind == "left-framework":
        return kept_inside(case, replay)
    if kind == "stop-gradient":
        return unstopped(case, replay)
    return substituted(case, replay) if kind == "discrete-op" else None


def _of_a_correct_one(case: Case, program: Program, replay: Replay | None) -> Fix | None:
    """The gradient is right; the loss it belongs to may not be the one that was meant, or not be of any use."""
    source, observed = case.source.node, case.source.observed
    if source is None or observed is None:
        return None
    if not np.any(observed) and program.outputs[0] not in descendants(program, [source]):
        return substituted(case, replay)
    found = next(tables(program, source), None)
    return None if found is None else flattened(case, found, replay)


def _aim(case: Case) -> Aim | None:
    source, true = case.source, case.true
    program = case.capture.program
    if (
        source.node is None
        or program is None
        or true is None
        or not true.is_bounded
        or case.capture.order != 1
    ):
        return None
    if not types.is_real(source.dtype) or not _can_be_run_better(case):
        return None
    true = tightened(program, source.node, true)
    gradients = Gradients(source.node, true, source.dtype, case.options)
    digits = 0.0 if source.observed is None else gradients.digits(source.observed)
    return Aim(gradients, digits, types.digits_possible(source.dtype), _places(case))


def _can_be_run_better(case: Case) -> bool:
    """Digits were lost to rounding, a dropped branch sent NaN, or a tape did not see all that ran."""
    if case.verdict is Verdict.MISSING:
        return case.source.missing is not None and case.source.missing.kind in _UNSEEN
    if case.verdict is Verdict.NONFINITE:
        return case.nonfinite is not None and case.nonfinite.kind in (*_ROUNDING, _MASKED)
    loss = find_loss(case) if case.verdict is Verdict.INACCURATE else None
    return loss is not None and loss.kind not in _RULES


def _places(case: Case) -> tuple[int, ...]:
    """Where the search begins: the node that lost the digits, the one where the error arose, and their lines."""
    if case.nonfinite is not None:
        suspects = [case.nonfinite.origin]
    else:
        loss = find_loss(case)
        suspects = [] if loss is None else [loss.place, loss.origin]
    program = case.capture.program
    assert program is not None
    spans = {node.span for node in suspects if node.span is not None}
    same = [node.id for node in program.nodes if node.span in spans]
    return (*(node.id for node in suspects), *same)


def _offers(
    case: Case, program: Program, aim: Aim, replay: Replay | None, deadline: float
) -> Iterator[tuple[float, Fix]]:
    """Fixes with their digits: the best first, then others nearly as good if it cannot be shown as a patch."""
    best: float | None = None
    for candidate in reached(program, aim, deadline=deadline)[:MOST_PROVEN]:
        if best is not None and candidate.digits < best - WORTH:
            return
        if not is_equal(program, candidate.program, aim.gradients.wrt, deadline + SECONDS):
            continue
        checked = _checked(case, candidate.program, aim, replay, equal=True)
        if checked is None:
            continue
        patch = patch_of(program, candidate.program, candidate.nodes, case.sources, case.capture.framework)
        fix = Fix(_text(candidate), "" if patch is None else patch.text, checked, _elsewhere(candidate))
        yield candidate.digits, fix
        best = candidate.digits if best is None else best
        if patch is not None:
            return


def _guarded(case: Case, program: Program, aim: Aim, replay: Replay | None) -> Fix | None:
    if (
        case.nonfinite is not None
        and case.nonfinite.zero is not None
        and case.nonfinite.zero.why == "not used"
    ):
        return _sliced_first(case, program, aim, replay)
    for guard, guarded in guards(case):
        if is_equal(program, guarded, aim.gradients.wrt):
            checked = _checked(case, guarded, aim, replay, equal=True)
            if checked is not None:
                text = "give the unselected branch an input on which it is harmless"
                return Fix(text, guard_patch(guard, case.sources, case.capture.framework), checked)
    return None


def _sliced_first(case: Case, program: Program, aim: Aim, replay: Replay | None) -> Fix | None:
    """`log(x)[0]` as `log(x[0])`: what is not used is not computed."""
    assert case.nonfinite is not None
    graph, op = Graph(program), forward_op(case.nonfinite.program, case.nonfinite.origin).op
    rule = Rule(
        f"moved({op}(A))", f"{op}(moved(A))", "slice first, so that the op never sees what is not used"
    )
    spans = dict.fromkeys(node.span for node in program.nodes if node.op in MOVES and node.span is not None)
    for span in spans:
        nodes = [node for node in program.nodes if node.span == span and not node.is_discrete]
        for rewrite in rewrites(program, graph, rule, nodes):
            checked = _checked(case, rewrite.program, aim, replay, equal=True)
            if checked is not None and is_equal(program, rewrite.program, aim.gradients.wrt):
                patch = patch_of(
                    program, rewrite.program, rewrite.nodes, case.sources, case.capture.framework
                )
                return Fix(rule.text, "" if patch is None else patch.text, checked)
    return None


def _text(candidate: Candidate) -> str:
    return "; then ".join(dict.fromkeys(rule.text for rule in candidate.rules))


def _elsewhere(candidate: Candidate) -> str:
    return "; ".join(dict.fromkeys(rule.elsewhere for rule in candidate.rules if rule.elsewhere))


def _in_wider_dtype(case: Case, program: Program, aim: Aim, replay: Replay | None) -> Fix | None:
    wide = None if case.source.dtype == "float64" else widened(program)
    if wide is None:
        return None
    checked = _checked(case, wide, aim, replay, equal=False)
    text = f"compute `{case.capture.target}` in float64: cast `{case.source.name}` first, and the result back"
    return None if checked is None else Fix(text, checked=checked)


def _checked(case: Case, program: Program, aim: Aim, replay: Replay | None, equal: bool) -> str | None:
    """What the changed program returned, in the user's framework if it can run it; None if that is no better."""
    name, dtype = words.framework_name(case.capture.framework), case.source.dtype
    gradient = None if replay is None else replay(program, aim.gradients.wrt)
    said = f"with this change {name} returns"
    note = ""
    if gradient is None:
        gradient = rounded_gradient(program, aim.gradients.wrt)
        said = f"the changed program gives, in {dtype} arithmetic of NumPy,"
        note = f"; it was not run in {name}"
    if gradient is None or not aim.is_reached(digits := aim.gradients.digits(gradient)):
        return None
    agreement = words.whole_digits_text(digits, aim.possible)
    proven = f" Both are equal in exact arithmetic, here and at {N_NEARBY} points nearby." if equal else ""
    return f"{said} {_shown(gradient, dtype)} to {agreement}{note}.{proven}"


def _shown(gradient: Array, dtype: str) -> str:
    """Numbers that can be read are shown; of more, only that they are right."""
    if gradient.ndim > 1:
        return f"the proven gradient in {dtype}"
    return f"{words.array_text(gradient, dtype)} in {dtype}, the proven value"

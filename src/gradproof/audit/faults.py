"""Gathers the facts about rules, state and missing gradients that the causes read, where a verdict asks for them."""

from __future__ import annotations

import linecache
from dataclasses import replace

from gradproof.audit.rules_tried import were_tried
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.hidden_stop import find_hidden_stop
from gradproof.ir.capture import Pullback
from gradproof.ir.span import Span
from gradproof.judge.blame import boundless_rules
from gradproof.judge.custom import custom_faults, library_faults, none_faults, nonfinite_faults
from gradproof.judge.suspicion import Suspicion, suspicions
from gradproof.judge.verdict import Verdict


def with_faults(case: Case) -> Case:
    return _with_suspicions(_with_hidden_stop(_with_mistakes(_with_sources(case))))


def _with_mistakes(case: Case) -> Case:
    program = case.capture.gradient_program
    if program is not None and (were_tried(case) or (_is_tried(case) and case.verdict is Verdict.WRONG)):
        results = {id for scope in case.capture.rules.scopes for id in scope.results or () if id is not None}
        return replace(
            case, rules=replace(case.rules, mistakes=custom_faults(case.capture, results, case.options))
        )
    # Where an op of the rule has made it so, that op is the fault.
    comes_in = case.irregular.nonfinite is None or case.irregular.nonfinite.origin.op in ("input", "constant")
    if case.verdict is Verdict.NONFINITE and program is not None and comes_in:
        return replace(
            case, rules=replace(case.rules, mistakes=nonfinite_faults(case.capture, case.reaching))
        )
    if case.verdict is not Verdict.WRONG or program is None:
        return case
    own = [
        found
        for found in case.rules.departures
        if case.reaching & set(found.pullback.results) and not _is_custom(case, found.pullback)
    ]
    again = case.capture.again
    inside = frozenset() if again is None else again.inside
    mistakes = custom_faults(case.capture, case.reaching | inside, case.options)
    if not own and case.source.node is not None:
        silent = none_faults(case.capture, case.source.node)
        # A rule that was given an argument twice has one sum for it, and None among its terms is the whole mistake.
        scopes = [fault.scope for fault in silent]
        kept = [one for one in mistakes if not (one.is_summed and one.scope in scopes)]
        mistakes = (*kept, *silent)
    boundless: tuple[Pullback, ...] = ()
    if not own and not mistakes:
        rules = [rule for rule in case.capture.rules.pullbacks if case.reaching & set(rule.results)]
        boundless = tuple(boundless_rules(program, rules))
    return replace(
        case,
        rules=replace(
            case.rules,
            mistakes=mistakes,
            library_faults=library_faults(program, own, case.options),
            boundless_rules=boundless,
        ),
    )


def _is_tried(case: Case) -> bool:
    """Whether rules that ran out of sight, as in a Jacobian, were run again by themselves."""
    return case.capture.run.was_tried


def _is_custom(case: Case, rule: Pullback) -> bool:
    """In graphs a custom gradient hangs on an op of the framework, whose rule is then the user's."""
    results = set(rule.results) - {None}
    return any(results == set(scope.results or ()) - {None} for scope in case.capture.rules.scopes)


def _with_hidden_stop(case: Case) -> Case:
    """Only where a gradient is differentiated again: for a first derivative a constant inside is as good."""
    source, true = case.source.node, case.true
    if case.verdict not in (Verdict.CORRECT, Verdict.WRONG) or source is None or true is None:
        return case
    found = find_hidden_stop(case.capture, source, true.mid)
    # A cut that changes first derivatives is what the library wants; it is no reason why a gradient is wrong.
    # One that does not is a fault, but not of a gradient that is right all the same.
    explains = found is not None and found.is_neutral is (case.verdict is Verdict.WRONG)
    return replace(case, rules=replace(case.rules, hidden_stop=found)) if explains else case


def _with_suspicions(case: Case) -> Case:
    again = case.capture.again
    if again is not None and again.rules and case.verdict in (Verdict.WRONG, Verdict.MISSING):
        return replace(
            case,
            rules=replace(
                case.rules, suspicions=tuple(Suspicion(scope, "second order") for scope in again.rules)
            ),
        )
    # What comes into a rule that ignores it may never have been computed, and is no number to show its mistake with.
    is_lost = case.verdict is Verdict.WRONG and not case.rules.mistakes
    if not (is_lost or case.verdict is Verdict.CORRECT) or not case.capture.rules.scopes:
        return case
    program = case.capture.program
    target = set() if program is None else {node.id for node in program.nodes}
    # A rule that is differentiated again took part in the target; otherwise it has to be in the gradient.
    found = [
        one
        for one in suspicions(case.capture)
        if (case.reaching | target) & set(one.scope.results or ())
        and (not is_lost or (one.kind == "ignores upstream" and one.scope.is_upstream_idle))
    ]
    return replace(case, rules=replace(case.rules, suspicions=tuple(found)))


def _with_sources(case: Case) -> Case:
    """The text of the files in which the spans lie that a patch could be made from."""
    spans: list[Span | None] = [case.capture.call]
    if case.source.missing is not None:
        spans += [case.source.missing.span, *(span for span, _ in case.source.missing.contributing)]
    if case.capture.program is not None:
        spans += [node.span for node in case.capture.program.nodes]
    for scope in case.capture.rules.scopes:
        spans += [scope.used_at, scope.defined_at, scope.rule_at]
    files = {span.file for span in spans if span is not None}
    texts = {file: "".join(linecache.getlines(file)) for file in sorted(files)}
    return replace(case, sources={file: text for file, text in texts.items() if text})

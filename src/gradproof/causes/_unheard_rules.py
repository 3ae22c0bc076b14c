"""Hand-written rules that did not run backward here: those of forward mode, and those whose results have no history."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._source import returned
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.ir.capture import Scope
from gradproof.ir.program import behind_copies, descendants
from gradproof.ir.span import Span
from gradproof.judge.suspicion import Suspicion
from gradproof.judge.verdict import Verdict


def unheard_rule(case: Case) -> Scope | None:
    """The one rule of the program's own by which a derivative is wrong, where it could not be tried alone.

    In forward mode no rule runs backward, and in a Jacobian it runs for all rows at once.
    """
    # A function that is used several times has one rule; `torch.func` uses one inside of another, too.
    scopes = case.capture.rules.scopes
    own = list({(one.name, one.rule_at): one for one in scopes if one.library is None}.values())
    is_told = bool(case.rules.mistakes or case.capture.rules.pullbacks or case.rules.suspicions)
    if case.verdict is not Verdict.WRONG or is_told or len(own) != 1 or own[0].results is not None:
        return None
    return own[0]


def is_deliberate(case: Case, scope: Scope) -> bool:
    """Whether a forward hands its arguments on unchanged, or is constant between jumps: its rule is meant to differ."""
    copies = case.capture.copies
    program = case.capture.program if copies is None else copies.of
    known = set() if program is None else {node.id for node in program.nodes}
    if program is None or not scope.outputs or not {*scope.inputs, *scope.outputs} <= known:
        return False
    given = {id for id in scope.inputs if not program[id].is_discrete}
    if {behind_copies(program, id) for id in scope.outputs} <= {behind_copies(program, id) for id in given}:
        return True
    return bool(given) and descendants(program, given).isdisjoint(scope.outputs)


def unheard(case: Case) -> Iterator[Diagnostic]:
    scope = unheard_rule(case)
    if scope is None or is_deliberate(case, scope):
        return
    yield Diagnostic(
        kind="custom-gradient",
        severity="error",
        certainty="likely",
        headline=f"the hand-written rule of `{scope.name}` is not the derivative of its forward",
        primary=annotated(place_of(case, scope), "the rule does not fit"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"`{scope.name}` is the only step with a rule of the program's own, and what came out is not the "
            "derivative of what was computed. The rule could not be tried alone here."
        ),
        fix=Fix(f"return the derivative of the forward from the rule of `{scope.name}`"),
        op=scope.name,
    )


def place_of(case: Case, scope: Scope) -> Span | None:
    return _where(case, scope.rule_at or scope.defined_at or scope.used_at)


def _where(case: Case, span: Span | None) -> Span | None:
    """What a rule returns, if it does so in one place; else the rule."""
    found = returned(case, span)
    if found is None or span is None:
        return span
    value = found[0]
    return Span(
        span.file, value.lineno, value.col_offset, value.end_lineno, value.end_col_offset, span.function
    )


def without_history(case: Case) -> Iterator[Suspicion]:
    """Rules whose results an op has taken for constants, though they depend on what is differentiated for."""
    program, source = case.capture.program, case.source.node
    if case.verdict is not Verdict.WRONG or case.rules.mistakes or program is None or source is None:
        return
    reached = {id for id in descendants(program, [source]) if not program[id].is_discrete}
    scopes = {scope.id: scope for scope in case.capture.rules.scopes if scope.library is None}
    for rule in case.capture.rules.pullbacks:
        for id, result in zip(rule.inputs, rule.results):
            scope = scopes.get(program[id].scope or 0) if id in reached else None
            if result is None and scope is not None and id not in scope.outputs:
                yield Suspicion(scope, "second order")

"""Hand-written rules that did not run backward here: those of forward mode, and those whose results have no history."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._source import returned
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.ir.program import descendants
from gradproof.ir.span import Span
from gradproof.judge.suspicion import Suspicion
from gradproof.judge.verdict import Verdict


def forward_rule(case: Case) -> Iterator[Diagnostic]:
    """A derivative in forward mode, where no rule runs backward that could be tried alone."""
    # A function that is used several times has one rule; `torch.func` uses one inside of another, too.
    scopes = case.capture.rules.scopes
    own = list({(one.name, one.rule_at): one for one in scopes if one.library is None}.values())
    is_told = bool(case.rules.mistakes or case.capture.rules.pullbacks or case.rules.suspicions)
    if case.verdict is not Verdict.WRONG or is_told or len(own) != 1 or own[0].results is not None:
        return
    span = _where(case, own[0].rule_at or own[0].defined_at or own[0].used_at)
    yield Diagnostic(
        kind="custom-gradient",
        severity="error",
        certainty="likely",
        headline=f"the hand-written forward-mode rule of `{own[0].name}` is not the derivative of its forward",
        primary=annotated(span, "its rule for forward mode does not fit"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"The derivative was taken forward, through `{own[0].name}`, the only step with a rule of the program's "
            "own. What came out is not the derivative of what was computed."
        ),
        fix=Fix(f"return the derivative of the forward from the `jvp` of `{own[0].name}`"),
        op=own[0].name,
    )


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

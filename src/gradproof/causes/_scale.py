"""Shared by exploding and vanishing: a gradient that changes its size by a steady factor along a repeated line."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import subject, worst
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, Severity
from gradproof.diagnosis.growth import Growth
from gradproof.judge.verdict import Verdict


def growth_of(case: Case) -> Growth | None:
    """The growth along a repeated line, where the gradient is right: otherwise another cause has the word."""
    return case.sizes.growth if case.verdict is Verdict.CORRECT else None


def repeated(growth: Growth) -> str:
    return "the steps of the model" if growth.inside else "a repeated line"


def step_of(growth: Growth) -> str:
    return "step" if growth.inside else "execution"


def ran(growth: Growth) -> str:
    if growth.inside:
        return (
            f"Inside this call the gradient passes {growth.repeats} products of one shape, layers or time steps, "
            "each made from the one before."
        )
    return f"Line {growth.span.line} ran {growth.repeats} times."


def diagnose(
    case: Case,
    growth: Growth,
    kind: str,
    headline: str,
    label: str,
    why: str,
    fix: Fix,
    severity: Severity = "warning",
) -> Iterator[Diagnostic]:
    one = step_of(growth)
    yield Diagnostic(
        kind=kind,
        severity=severity,
        certainty="measured",
        headline=headline,
        primary=Annotation(growth.span, label),
        subject=subject(case, worst(case)),
        evidence=(
            ("comes in", f"size {words.significant(growth.last, 2)}, at the last {one}"),
            ("goes out", f"size {words.significant(growth.first, 2)}, at the first {one}"),
        ),
        why=why,
        fix=fix,
        op=growth.op,
    )

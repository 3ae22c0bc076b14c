"""Shared by the causes of a missing gradient: the frontend found the reason, each cause puts it into words."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.capture import Break


def broken(case: Case, kind: str) -> Break | None:
    """The break of this kind, if the gradient is missing because of it."""
    missing = case.source.missing
    return missing if missing is not None and missing.kind == kind and case.source.observed is None else None


def diagnose(case: Case, missing: Break, headline: str, why: str, fix: Fix | None) -> Iterator[Diagnostic]:
    yield Diagnostic(
        kind=missing.kind,
        severity="error",
        certainty="measured",
        headline=headline,
        primary=None if missing.span is None else Annotation(missing.span, missing.label),
        secondary=tuple(Annotation(span, label) for span, label in missing.contributing),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=why,
        fix=fix,
    )

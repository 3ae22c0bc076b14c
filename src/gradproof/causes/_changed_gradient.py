"""A hand-written rule that writes into the gradient it was given, where others were given the same memory."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.judge.verdict import Verdict


def changes_what_it_is_given(case: Case) -> Iterator[Diagnostic]:
    """A rule that is right, and changes in place a gradient that others were given as well."""
    change = case.source.overwritten
    if case.verdict is not Verdict.WRONG or change is None or change.kind != "custom-gradient":
        return
    name = change.facts["rule"]
    yield Diagnostic(
        kind="custom-gradient",
        severity="error",
        certainty="measured",
        headline=f"the rule of `{name}` changes the gradient it is given, and others are given the same",
        primary=annotated(change.span, change.label),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"{words.framework_name(case.capture.framework)} hands on one tensor to several rules where it can, as to "
            "both sides of an addition. What a rule writes into it reaches the others, which are right and get the "
            "wrong gradient."
        ),
        fix=Fix("change a copy of it (`.clone()`), or compute a new tensor"),
        op=name,
    )

"""What is said of a gradient written by hand that has not the shape of a gradient."""

from __future__ import annotations

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import shape_text
from gradproof.frontends.check.request import WrongShape
from gradproof.ir.span import Span
from gradproof.judge.by_facts import misshapen


def shape_report(wrong: WrongShape, target: str, call: Span, definition: Span | None) -> GradientReport:
    """Wrong whatever its numbers are: there is no entry of the true gradient to compare an entry with."""
    found, wanted = shape_text(wrong.found), shape_text(wrong.wanted)
    hint = f": {wrong.hint}" if wrong.hint else ""
    diagnostic = Diagnostic(
        kind="custom-gradient",
        severity="error",
        certainty="proven",
        headline=f"the hand-written gradient for `{wrong.source}` has another shape than `{wrong.source}`",
        primary=Annotation(definition or call, f"returns shape {found}"),
        subject=f"d {target} / d {wrong.source}",
        evidence=(("returned", f"shape {found}{hint}"), ("needed", f"shape {wanted}")),
        why=(
            "A gradient has one entry for every entry of what it is taken for, in the same place. Code that "
            "uses this one either fails or broadcasts it, and then moves every entry by the wrong amount."
        ),
    )
    judgement = misshapen(found, wanted)
    return GradientReport(
        call=call,
        framework="numpy",
        target=target,
        source=wrong.source,
        shape=wrong.wanted,
        dtype=wrong.dtype,
        verdict=judgement.verdict,
        reason=judgement.reason,
        diagnostics=(diagnostic,),
    )

"""Entries for gradients that the program was about to compute when it failed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.diagnosis.diagnostic import Diagnostic, Severity
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import array_text, digits_text, framework_name
from gradproof.judge.by_facts import missing
from gradproof.judge.verdict import Verdict


def never_computed(gradient: GradientReport, exception: str, how: str) -> GradientReport:
    """The gradient as the user has it: missing, because of the exception; what it would have been is kept.

    `how` says under which condition it was had after all. Its faults are warnings: they come after the crash.
    """
    reason = f"it was never computed: {exception.strip()}" + _instead(gradient, how)
    lowered = tuple(_lowered(diagnostic, how) for diagnostic in gradient.diagnostics)
    return replace(
        gradient.under(missing(reason), lowered),
        computed=False,
        observed=None,
        oracle=gradient.oracle,
        reference=gradient.reference,
        reference_radius=gradient.reference_radius,
        one_sided=gradient.one_sided,
    )


def _instead(gradient: GradientReport, how: str) -> str:
    seen = gradient.observed
    if seen is None or gradient.verdict is Verdict.MISSING:
        return ""
    shown = array_text(np.asarray(seen), gradient.dtype)
    text = f"; {how} {framework_name(gradient.framework)} returns {shown}, which is {gradient.verdict}"
    if gradient.known_digits is not None and gradient.verdict is not Verdict.UNDEFINED:
        text += f" ({digits_text(*gradient.known_digits)})"
    if gradient.one_sided is not None and gradient.one_sided[0].size == 1:
        below, above = (array_text(side.reshape(())) for side in gradient.one_sided)
        text += f": slope {below} from below, {above} from above"
    return text


def _lowered(diagnostic: Diagnostic, how: str) -> Diagnostic:
    severity: Severity = "note" if diagnostic.severity == "note" else "warning"
    note = f"the program did not get here; this was seen in a run after its end, {how.rstrip(',')}"
    return replace(diagnostic, severity=severity, notes=(*diagnostic.notes, note))

"""One gradient in one sentence: its name, the verdict, and the numbers that show it."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.entries import Entry
from gradproof.diagnosis.report import GradientReport, Script
from gradproof.diagnosis.words import (
    comma_list,
    count,
    digits_text,
    framework_name,
    gradient_name,
    number,
    ordinal,
    printable,
)
from gradproof.judge.verdict import Verdict

# How the reference was obtained, in the words of a reader; an enclosure is proven.
_ORACLES = {"differences": "estimated by differences", "float64": "measured in float64"}


def sentence(gradient: GradientReport) -> str:
    """`d loss / d x  correct, 7.2 of 7.2 digits, proven`."""
    said = _SENTENCES[gradient.verdict](gradient)
    intended = ", intended" if gradient.intended else ""
    return printable(f"{name(gradient)}  {verdict_word(gradient.verdict)}{intended}{said}")


def verdict_word(verdict: Verdict) -> str:
    """A verdict in a sentence, for who has not read what the verdicts are called."""
    return "NaN/inf" if verdict is Verdict.NONFINITE else str(verdict)


def name(gradient: GradientReport) -> str:
    """The gradient's name; which execution of its line it is, where that was not the first."""
    text = gradient_name(gradient.target, gradient.source)
    return text if gradient.occurrence == 1 else f"{text} ({ordinal(gradient.occurrence)} run)"


def unserved_text(script: Script) -> str:
    """What a program is told whose gradients nobody could see."""
    names = comma_list(script.unserved)
    return f"the script uses {names}, and gradproof does not see the gradients that {names} computes"


def reference_word(gradient: GradientReport) -> str:
    """What stands before the reference value: `proven`, or how it was estimated."""
    if gradient.is_proven:
        return "proven"
    return _ORACLES.get(gradient.oracle or "", f"reference ({gradient.oracle})")


def _correct(gradient: GradientReport) -> str:
    how = "" if gradient.oracle is None else f", {reference_word(gradient)}"
    why = f": {gradient.reason}" if gradient.reason and not gradient.is_proven else ""
    return f"{_digits(gradient)}{how}{why}"


def _off(gradient: GradientReport) -> str:
    return f"{_digits(gradient)}{_both_values(gradient)}{_because(gradient)}"


def _undefined(gradient: GradientReport) -> str:
    parts = []
    if gradient.one_sided is not None and all(side.size == 1 for side in gradient.one_sided):
        below, above = (number(side.item()) for side in gradient.one_sided)
        parts.append(f"slope {below} from below, {above} from above")
    if gradient.observed is not None and gradient.observed.size == 1:
        parts.append(f"{framework_name(gradient.framework)} {_value(gradient, gradient.observed.item())}")
    parts += [gradient.reason] if gradient.reason else []
    return ": " + "; ".join(parts or ["the function has no derivative at this point"])


def _missing(gradient: GradientReport) -> str:
    known = ""
    if gradient.reference is not None and gradient.reference.size == 1:
        known = f", {reference_word(gradient)} {_reference(gradient)}"
    if not gradient.computed:
        return f"{known}: {gradient.reason or 'it was never computed'}"
    return f": {framework_name(gradient.framework)} returned None{known}{_because(gradient)}"


def _nonfinite(gradient: GradientReport) -> str:
    table = gradient.entry_table
    if table is not None and table.count > 1:
        counted = f"{table.not_finite:,} of {count(table.count, 'entry', 'entries')} not finite"
        return f", {counted}{_both_values(gradient)}{_because(gradient)}"
    return f"{_both_values(gradient)}{_because(gradient)}"


def _unverified(gradient: GradientReport) -> str:
    return f": {gradient.reason or 'no reason was recorded'}"


_SENTENCES = {
    Verdict.CORRECT: _correct,
    Verdict.INACCURATE: _off,
    Verdict.WRONG: _off,
    Verdict.UNDEFINED: _undefined,
    Verdict.MISSING: _missing,
    Verdict.NONFINITE: _nonfinite,
    Verdict.UNVERIFIED: _unverified,
}


def _digits(gradient: GradientReport) -> str:
    known = gradient.known_digits
    return "" if known is None else f", {digits_text(*known)}"


def _because(gradient: GradientReport) -> str:
    return f"; {gradient.reason}" if gradient.reason else ""


def _both_values(gradient: GradientReport) -> str:
    """`: TensorFlow 0.0, proven 2.0e10`, of the worst entry where there are several."""
    table = gradient.entry_table
    if table is None or not table.worst:
        return ""
    entry: Entry = table.worst[0]
    place = f" at [{', '.join(map(str, entry.index))}]" if entry.index else ""
    proven = number(entry.reference, entry.radius)
    return (
        f": {framework_name(gradient.framework)} {_value(gradient, entry.observed)}{place}, "
        f"{reference_word(gradient)} {proven}"
    )


def _value(gradient: GradientReport, value: complex) -> str:
    return number(value, dtype=gradient.dtype)


def _reference(gradient: GradientReport) -> str:
    assert gradient.reference is not None
    radius = 0.0 if gradient.reference_radius is None else float(np.max(gradient.reference_radius, initial=0))
    return number(gradient.reference.item(), radius)

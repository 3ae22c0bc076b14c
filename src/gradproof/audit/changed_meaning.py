"""What a change of a script changes besides mending it: the number that is differentiated, and its true gradient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.entries import norm
from gradproof.diagnosis.report import GradientReport
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.options import TOLERANCES

RAN = "the whole script was run with this change"
MOST_SHOWN = 8  # entries; of more it is said how far they are apart


def changed_value(before: GradientReport, now: GradientReport) -> str:
    """The target before and after, as a clause; empty where it is the same number, or not known."""
    was, becomes = before.target_value, now.target_value
    if was is None or becomes is None or _agree(was, becomes, now.dtype):
        return ""
    shown = [words.array_text(one, str(one.dtype)) for one in (becomes, was)]
    return f"`{now.target}` is {shown[0]} instead of {shown[1]}"


def changed_gradient(before: GradientReport, now: GradientReport) -> str:
    """The true gradients before and after, as a clause; empty where they are the same, or one is not known."""
    was, becomes = before.reference, now.reference
    if was is None or becomes is None or was.shape != becomes.shape or _agree(was, becomes, now.dtype):
        return ""
    if not all(_is_known(one) for one in (before, now)):
        return ""
    which = f"the true gradient for `{now.source}` is another one"
    if was.size > MOST_SHOWN or was.ndim > 1:
        return f"{which}, {norm(becomes - was) / max(norm(was), norm(becomes)):.1%} away"
    shown = [words.array_text(one, now.dtype) for one in (becomes, was)]
    return f"{which}: {shown[0]} instead of {shown[1]}"


def seen(fix: Fix, before: GradientReport, now: GradientReport | None, is_first: bool) -> Fix:
    """The fix with what the changed script returned, and by how much that is something else.

    A training whose gradients are mended goes other ways from the second step on: only the first are compared.
    """
    # What was seen of the ops, before the text was run.
    known = fix.checked and f" {fix.checked[:1].upper()}{fix.checked[1:]}"
    if now is None:
        return replace(fix, checked=f"{RAN}: it goes on, and no gradient in it is at fault.{known}")
    if known:
        away = changed_gradient(before, now) if is_first and fix.changes_meaning else ""
        both = (fix.changes_meaning, "" if away in fix.changes_meaning else away)
        whole = f"{RAN}: {_said(fix, now)}.{known}"
        return replace(fix, checked=whole, changes_meaning="; ".join(filter(None, both)))
    said = _said(fix, now)
    value, gradient = (
        changed(before, now) if is_first else "" for changed in (changed_value, changed_gradient)
    )
    meaning = "; ".join(filter(None, (fix.changes_meaning, gradient)))
    return replace(fix, checked=f"{RAN}: {'; '.join(filter(None, (said, value)))}.", changes_meaning=meaning)


def _said(fix: Fix, now: GradientReport) -> str:
    right = "" if now.known_digits is None else f", right to {words.whole_digits_text(*now.known_digits)}"
    if now.verdict is Verdict.CORRECT:
        return f"{words.framework_name(now.framework)} returns the gradient for `{now.source}`{right}"
    if now.verdict is Verdict.WRONG and fix.changes_meaning:
        return (
            f"a gradient reaches `{now.source}`, which is not the derivative of the value: that is the change"
        )
    return f"the fault is gone; the gradient for `{now.source}` is {now.verdict.value} here"


def _is_known(gradient: GradientReport) -> bool:
    """Whether every entry has a true value, and not only some beside others without a derivative."""
    radius = gradient.reference_radius
    return radius is None or bool(np.isfinite(radius).all())


def _agree(was: Array, becomes: Array, dtype: str) -> bool:
    """To the digits that the dtype is held to."""
    if not np.isfinite(was).all() or not np.isfinite(becomes).all():
        return bool(np.array_equal(was, becomes, equal_nan=True))
    return norm(becomes - was) <= TOLERANCES.get(dtype, 0.0) * max(norm(was), norm(becomes))

"""What a change of a script changes besides mending it: the number that is differentiated, and its true gradient."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.entries import norm
from gradproof.diagnosis.report import GradientReport
from gradproof.ir.types import Array
from gradproof.options import TOLERANCES

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
    which = f"the true gradient for `{now.source}` is another one"
    if was.size > MOST_SHOWN or was.ndim > 1:
        return f"{which}, {norm(becomes - was) / max(norm(was), norm(becomes)):.1%} away"
    shown = [words.array_text(one, now.dtype) for one in (becomes, was)]
    return f"{which}: {shown[0]} instead of {shown[1]}"


def _agree(was: Array, becomes: Array, dtype: str) -> bool:
    """To the digits that the dtype is held to."""
    if not np.isfinite(was).all() or not np.isfinite(becomes).all():
        return bool(np.array_equal(was, becomes, equal_nan=True))
    return norm(becomes - was) <= TOLERANCES.get(dtype, 0.0) * max(norm(was), norm(becomes))

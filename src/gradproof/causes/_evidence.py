"""Rows of evidence that most causes show: what was returned, what is proven, how far they agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.frameworks import framework

Rows = tuple[tuple[str, str], ...]


def subject(case: Case, index: tuple[int, ...] | None = None) -> str:
    """`d loss / d x[1]`: the gradient and the entry that is spoken of."""
    return words.gradient_name(case.capture.target, case.source.name, _shown(case, index))


def _shown(case: Case, index: tuple[int, ...] | None) -> tuple[int, ...]:
    index = worst(case) if index is None else index
    return index if len(case.source.shape) > 0 else ()


def worst(case: Case) -> tuple[int, ...]:
    """The entry of the gradient that is furthest off; the first one where nothing is known."""
    comparison = case.judgement.comparison
    if comparison is not None and comparison.worst is not None:
        return comparison.worst
    return (0,) * len(case.source.shape)


def comparison_rows(case: Case) -> Rows:
    """Framework, proven, agreement, at the worst entry."""
    rows = [(words.framework_name(case.capture.framework), observed_text(case, worst(case)))]
    proven = proven_text(case, worst(case))
    if proven is not None:
        rows.append(("proven" if case.judgement.oracle == "ball" else "expected", proven))
    comparison = case.judgement.comparison
    if comparison is not None and proven is not None and np.isfinite(comparison.relative_error):
        agreement = words.whole_digits_text(comparison.digits, comparison.digits_possible)
        rows.append(("agreement", agreement))
    return tuple(rows)


def instead_of_none(case: Case) -> str:
    """The dtype of what was returned in the place of a gradient; empty where that is None."""
    return "" if case.capture.run.exception is not None else framework(case.capture.framework).for_integers


def observed_text(case: Case, index: tuple[int, ...]) -> str:
    observed = case.source.observed
    if observed is None:
        instead = instead_of_none(case)
        return f"{instead}, no numbers" if instead else "None"
    return words.number(number_at(observed, index), dtype=case.source.dtype)


def proven_text(case: Case, index: tuple[int, ...]) -> str | None:
    """The true value to the digits that are proven; None where there is none."""
    true = case.true
    if true is None or not np.isfinite(number_at(true.rad, index)):
        return None
    return words.number(number_at(true.mid, index), number_at(true.rad, index))


def number_at(array: Any, index: tuple[int, ...]) -> Any:
    return np.asarray(array)[index].item()

"""What rounding leaves of numbers that were meant to be equal counts as the zero that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.engine.derive import derive
from gradproof.judge.verdict import Verdict

from ..small import judge_own, judge_recorded, observed, program_of, total

LOGITS = np.array([0.31, -1.27, 0.85, 2.19])


def _own_labels(dtype: str, off: float = 0.0) -> Any:
    """The cross entropy of a softmax with labels that are its own probabilities in a dtype, or off by a share."""
    x = LOGITS.astype(dtype).astype(np.float64)
    labels = (np.exp(x) / np.exp(x).sum() * (1.0 + off * np.array([1.0, -1.0, 1.0, -1.0]))).astype(dtype)

    def loss(m: Any, x: Any) -> Any:
        return total(m, m.mul(labels, m.sub(m.log(total(m, m.exp(x))), x)))

    return program_of(loss, LOGITS, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_labels_that_are_the_own_probabilities_leave_nothing_to_find(dtype: str) -> None:
    program = _own_labels(dtype)
    derived = derive(program)
    zeros = (np.zeros(4, dtype),)
    for values in (observed(derived), zeros):
        (judgement,) = judge_recorded(program, derived, values)
        assert judgement.verdict is Verdict.CORRECT, values
    # The rest itself is kept as what it is.
    assert judgement.enclosure is not None and np.abs(judgement.enclosure.mid).max() > 0.0


def test_labels_that_are_off_by_more_than_their_rounding_leave_a_gradient() -> None:
    program = _own_labels("float32", off=1e-4)
    (judgement,) = judge_recorded(program, derive(program), (np.zeros(4, np.float32),))
    assert judgement.verdict is Verdict.WRONG or judgement.verdict is Verdict.INACCURATE


def test_an_error_that_is_more_than_rounding_of_the_terms_is_not_hidden_by_a_rest() -> None:
    program = _own_labels("float32")
    (judgement,) = judge_recorded(program, derive(program), (np.full(4, 1e-4, np.float32),))
    assert judgement.verdict is not Verdict.CORRECT


def test_digits_lost_where_the_last_digits_of_the_numbers_given_do_not_matter_stay_lost() -> None:
    # log(exp(x) + 1) - x: a small gradient beside terms of 1, known from `x` to all its digits.
    program = program_of(lambda m, x: m.sub(m.log(m.add(m.exp(x), 1.0)), x), np.float32(16.3))
    (judgement,) = judge_own(program)
    assert judgement.verdict is Verdict.INACCURATE


def test_a_map_repeated_until_it_is_chaos_leaves_no_rest() -> None:
    # The last digits move this gradient altogether, and yet it is no difference of terms that were meant to be equal.
    def last(m: Any, r: Any) -> Any:
        x = m.literal(np.float32(0.3))
        for _ in range(60):
            x = m.mul(m.mul(r, x), m.sub(1.0, x))
        return x

    (judgement,) = judge_own(program_of(last, np.float32(3.9)))
    assert judgement.verdict is Verdict.INACCURATE

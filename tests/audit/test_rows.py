"""Jacobians are put together from their rows."""

from __future__ import annotations

import numpy as np

import gradproof
from gradproof.audit.rows import MOST_ROWS


def test_the_worst_row_decides() -> None:
    def right(x: object) -> object:
        return np.diag(2 * np.asarray([1.0, 2.0, 3.0]))

    def wrong_in_one_row(x: object) -> object:
        jacobian = np.diag([2.0, 4.0, 6.0])
        jacobian[1, 2] = 1e-3
        return jacobian

    point = np.array([1.0, 2.0, 3.0])
    assert str(gradproof.check(lambda x: x**2, point, gradient=right).verdicts[0]) == "correct"
    report = gradproof.check(lambda x: x**2, point, gradient=wrong_in_one_row)
    assert str(report.verdicts[0]) == "wrong"
    [found] = report.gradients
    assert found.entry_table is not None
    assert found.entry_table.worst[0].index == (1, 2)


def test_a_jacobian_with_too_many_rows_is_unverified_with_the_reason() -> None:
    point = np.zeros(MOST_ROWS + 1)
    report = gradproof.check(lambda x: x * 2, point, gradient=2 * np.eye(MOST_ROWS + 1), output="each")
    assert str(report.verdicts[0]) == "unverified"
    assert (
        report.gradients[0].reason
        == "a Jacobian of 1,001 rows is beyond the 1,000 that are proven one by one"
    )

"""Jacobians are put together from their rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.audit.rows import MOST_ROWS
from gradproof.ops import TABLE
from tests.audit.jacobian_cases import OTHER, RIGHT, assert_at_once, assert_same


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


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("how", [{"order": 2}, {"output": "each"}], ids=str)
def test_rows_that_are_right_are_judged_at_once(
    name: str, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    function, point = RIGHT[name]
    assert_at_once(monkeypatch, _in_numpy(function, how), point, **how)


@pytest.mark.parametrize("name", {**RIGHT, **OTHER})
@pytest.mark.parametrize("how", [{"order": 2}, {"output": "each"}], ids=str)
def test_rows_at_once_say_what_each_says_alone(
    name: str, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    function, point = {**RIGHT, **OTHER}[name]
    assert_same(monkeypatch, _in_numpy(function, how), point, **how)


def test_a_row_that_the_function_contradicts_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong rule of ours makes a wrong reference; the function itself, a step beside the point, shows it."""
    right = TABLE["tanh"]
    assert right.slopes is not None
    off = replace(right, slopes=(lambda m, y, x: m.sub(m.mul(right.slopes[0](m, y, x), 3), 1),))
    function, point = RIGHT["network"]
    monkeypatch.setitem(TABLE, "tanh", off)
    [found] = gradproof.check(_in_numpy(function, {"order": 2}), point, order=2).gradients
    assert str(found.verdict) == "unverified"


def _in_numpy(function: Any, how: dict[str, Any]) -> Any:
    if "order" in how:
        return partial(function, np)
    return lambda x: function(np, x) * x

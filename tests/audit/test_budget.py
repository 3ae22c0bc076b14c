"""Time for checks, and which executions are checked."""

from __future__ import annotations

import pytest

from gradproof.audit.budget import Budget, parse_checks, powers
from gradproof.errors import InvalidInput


def test_powers_of_ten_and_the_second_execution_are_checked() -> None:
    assert [n for n in range(1, 1001) if powers(n)] == [1, 2, 10, 100, 1000]


def test_executions_can_be_listed() -> None:
    assert [n for n in range(1, 30) if parse_checks("3, 5,20")(n)] == [3, 5, 20]


@pytest.mark.parametrize("text", ["", "0", "-1", "1,", "one", "1.5", "1;2"])
def test_what_is_no_list_of_executions_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="--checks takes"):
        parse_checks(text)


def test_a_budget_is_used_up_by_checks_alone() -> None:
    budget = Budget(0.001)
    assert not budget.is_used_up
    with budget.spending():
        sum(range(200_000))
    assert budget.is_used_up
    assert budget.left == 0.0
    assert not Budget(None, spent=1e9).is_used_up

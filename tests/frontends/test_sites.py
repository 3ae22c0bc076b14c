"""Which executions of a call are looked at, also where most of them are counted by a short way."""

from __future__ import annotations

import pytest

from gradproof.frontends.record.sites import AHEAD, RECENT, Sites, by_powers_of_ten


def _wanted(sites: Sites, count: int) -> list[int]:
    """As a frontend asks: the short way first, where there is one."""
    found, site = [], sites.begin("line")[0]
    found += [1] if sites.policy(1) else []
    for n in range(2, count + 1):
        if not site.pass_by() and sites.begin("line")[1]:
            found.append(n)
    assert site.executions == count
    assert site.skipped == count - len(found)
    return found


def test_the_short_way_changes_nothing_of_what_is_looked_at() -> None:
    assert _wanted(Sites(by_powers_of_ten), 1200) == [1, 2, 10, 100, 1000]
    assert _wanted(Sites({5, 6, 90, 300}.__contains__), 400) == [5, 6, 90, 300]


def test_what_has_run_already_is_counted_and_the_next_is_announced() -> None:
    """As where a framework tells of an execution when it is over."""
    sites = Sites(by_powers_of_ten)
    site, found = sites.begin("line")[0], [1]
    for n in range(2, 1200):
        if found[-1] == n:
            assert sites.begin("line")[1]
        elif not site.pass_by() and sites.skip(site):
            found.append(n + 1)
    assert found == [1, 10, 100, 1000]  # nobody announces the second
    assert (site.executions, site.skipped) == (1199, 1195)


def test_nothing_is_passed_by_before_an_execution_that_is_wanted() -> None:
    """The one before it must be settled by the long way: what is wanted is recorded from its forward on."""
    sites = Sites({AHEAD // 2}.__contains__)
    site, _ = sites.begin("line")
    passed = 0
    while site.pass_by():
        passed += 1
    assert site.executions == AHEAD // 2 - 2 == passed + 1


@pytest.mark.parametrize("reason", ["suspicious", "recount"])
def test_a_bad_result_and_a_new_count_end_the_short_way(reason: str) -> None:
    sites = Sites(lambda occurrence: occurrence == 1)
    sites.begin("line")
    site, _ = sites.begin("line")
    assert site.pass_by()
    if reason == "suspicious":
        site.suspicious = True
    else:
        sites.recount()
    assert not site.pass_by()
    assert sites.begin("line")[1]


def test_a_line_that_ran_once_long_ago_is_not_waited_for() -> None:
    """Otherwise everything behind a single gradient call would be recorded for its second execution."""
    sites = Sites(by_powers_of_ten)
    sites.begin("before the loop")
    for _ in range(RECENT):
        sites.begin("in the loop")
    assert sites.is_waiting()
    sites.begin("in the loop")
    assert not sites.is_waiting()
    sites.begin("before the loop")
    assert not sites.is_waiting()
    sites.table["in the loop"].suspicious = True
    assert sites.is_waiting()

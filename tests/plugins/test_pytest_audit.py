"""What the plugin's options take and refuse."""

from __future__ import annotations

import pytest

from gradproof.plugins.pytest_audit import _settings

NOTHING: dict[str, str | None] = dict.fromkeys(
    ("checks", "budget", "fail_on", "json", "html", "sarif", "defer")
)


def test_without_options_tests_fail_on_errors_and_time_is_not_limited() -> None:
    settings = _settings(NOTHING, "/home")
    assert (settings.seconds, settings.fail_on, settings.paths) == (None, "error", {})
    assert [n for n in range(1, 101) if settings.policy(n)] == [1, 2, 10, 100]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("checks", "sometimes", "--gradproof-checks takes `powers`, `all`, `first`"),
        ("budget", "much", "--gradproof-budget takes a number of seconds, not 'much'"),
        ("budget", "-1", "--gradproof-budget takes a number of seconds, not '-1'"),
        ("budget", "nan", "--gradproof-budget takes a number of seconds, not 'nan'"),
        ("fail_on", "note", "--gradproof-fail-on takes error, warning or never; it was 'note'"),
        ("json", "nowhere/r.json", "the report cannot be written to `nowhere/r.json`: there is no folder"),
    ],
)
def test_an_option_that_is_not_understood_is_an_error_of_use(name: str, value: str, words: str) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        _settings({**NOTHING, name: value}, "/home")
    assert words in str(caught.value)

"""The cases of every cause: found where they are, silent where there is nothing, in the words of the snapshots."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

from tests.causes.harness import (
    Outcome,
    cause_of,
    framework_of,
    markers,
    name_of,
    outcome_of,
    role_of,
    scripts,
)

_DIGITS = re.compile(r"\b\d+\.\d(?= of \d+\.\d\b)")


def _parameters(*roles: str) -> list[object]:
    found = []
    for path in scripts():
        if role_of(path) in roles:
            framework = framework_of(path)
            absent = framework != "numpy" and importlib.util.find_spec(framework) is None
            marks = [pytest.mark.skipif(absent, reason=f"{framework} is not installed")]
            if framework == "tensorflow":
                marks.append(pytest.mark.tensorflow)
            found.append(pytest.param(path, id=name_of(path), marks=marks))
    return found


@pytest.fixture
def outcome(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Of the script of a test; the workers of pytest-xdist share the folder above their own ones."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    found = outcome_of(path, None if alone else tmp_path_factory.getbasetemp().parent)
    assert not found.faults, found.faults[0]
    return found


@pytest.mark.parametrize("path", _parameters("guilty"))
def test_a_guilty_script_is_blamed_at_its_marked_lines_and_nowhere_else(path: Path, outcome: Outcome) -> None:
    assert markers(path), "a guilty script marks the line to blame with `#~ <kind>`"
    assert outcome.places == markers(path)


@pytest.mark.parametrize("path", _parameters("guilty"))
def test_the_text_is_what_a_user_should_read(path: Path, outcome: Outcome) -> None:
    text, expected = outcome.text, path.with_suffix(".txt")
    if os.environ.get("GRADPROOF_ACCEPT"):
        expected.write_text(text, encoding="utf-8")
    assert expected.exists(), f"{expected.name} is missing; GRADPROOF_ACCEPT=1 writes it"
    assert_reads_alike(text, expected.read_text(encoding="utf-8"))


def assert_reads_alike(text: str, expected: str) -> None:
    """Word for word; the tenths of how many digits are right are the processor's: it adds in an order of its own."""
    for found, wanted in zip(_DIGITS.findall(text), _DIGITS.findall(expected)):
        assert abs(float(found) - float(wanted)) <= 0.5
    assert _DIGITS.sub("#", text) == _DIGITS.sub("#", expected)


@pytest.mark.parametrize("found", ["13.9 of 15.9", "14.5 of 7.2", "14.5 of 15.9 digits"])
def test_other_digits_or_words_do_not_read_alike(found: str) -> None:
    assert_reads_alike("correct  14.3 of 15.9", "correct  14.5 of 15.9")
    with pytest.raises(AssertionError):
        assert_reads_alike(f"correct  {found}", "correct  14.5 of 15.9")


@pytest.mark.parametrize("path", _parameters("fixed", "silent"))
def test_an_innocent_script_has_no_error_and_nothing_of_this_cause(path: Path, outcome: Outcome) -> None:
    assert outcome.errors <= markers(path), "an error that the script does not name"
    assert cause_of(path) not in {kind for kind, _ in outcome.places}


@pytest.mark.parametrize("path", _parameters("guilty", "fixed", "silent"))
def test_a_correct_gradient_has_no_error(outcome: Outcome) -> None:
    assert not outcome.wronged


@pytest.mark.parametrize("path", _parameters("fixed"))
def test_a_fixed_script_has_only_correct_gradients(outcome: Outcome) -> None:
    assert set(outcome.verdicts) == {"correct"}


@pytest.mark.parametrize("path", _parameters("silent"))
def test_a_silent_script_says_in_its_first_line_why(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith(("# Silent: ", '"""Silent: '))

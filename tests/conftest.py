"""What holds for every report that a test makes, whatever the test is about; and what makes the whole suite faster."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent

# Many tests start a process. Where no bytecode may be kept, each of them compiles our source again, and each pytest
# all of its plugins: a third of the time that the suite takes. What is imported from here on is kept, by workers too.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Where the standard input is closed there is none, and what Keras imports asks for its encoding.
if sys.__stdin__ is None:
    sys.__stdin__ = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The large sizes are left to the night. Tests of the whole come first: they are the longest, and while the last
    test runs the other workers have nothing to do."""
    if "GRADPROOF_NIGHTLY" not in os.environ:
        skipped = pytest.mark.skip(reason="a large size, for the night: GRADPROOF_NIGHTLY=1")
        for item in items:
            if item.get_closest_marker("nightly") is not None:
                item.add_marker(skipped)
    items.sort(key=lambda item: item.path.parent != TESTS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker begins with a half of its own, so that few files are split and have their fixtures made twice."""
    from xdist.scheduler.worksteal import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_finish() -> None:
    """What was imported stays to the end: the collector need not look through three frameworks again and again."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _every_verdict_says_why() -> Iterator[None]:
    from gradproof import checking
    from gradproof.audit import facts, intended
    from gradproof.diagnosis.report import Report
    from gradproof.plugins import pytest_audit

    from .audited import assert_every_verdict_says_why

    def finished(report: Report) -> Report:
        made = finish(report)
        assert_every_verdict_says_why(made)
        return made

    finish = intended.finished
    with pytest.MonkeyPatch.context() as patch:
        # A session's report, that of `check`, and that of the tests of a plugin.
        for module in (facts, checking, pytest_audit):
            patch.setattr(module, "finished", finished)
        yield


@pytest.fixture(autouse=True, scope="session")
def _causes_that_are_not_asked_have_nothing_to_say() -> Iterator[None]:
    from gradproof.audit import examine

    from .audited import undeclared

    def find_all(case: Any, *rest: Any) -> Any:
        spoken.update(dict.fromkeys(undeclared(case)))
        return real(case, *rest)

    real, spoken = examine.find_all, dict[str, None]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examine, "find_all", find_all)
        yield
    assert list(spoken) == []


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    from .pictures import leave_out

    leave_out(monkeypatch)

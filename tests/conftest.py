"""What holds for every report that a test makes, whatever the test is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradproof import checking
from gradproof.audit import facts, intended
from gradproof.diagnosis.report import Report
from gradproof.plugins import pytest_audit

from .audited import assert_every_verdict_says_why


@pytest.fixture(autouse=True, scope="session")
def _every_verdict_says_why() -> Iterator[None]:
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

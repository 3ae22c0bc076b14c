"""What holds for every report that a test makes, whatever the test is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradproof.audit import facts
from gradproof.diagnosis.report import Report
from gradproof.judge.verdict import Verdict


@pytest.fixture(autouse=True, scope="session")
def _every_verdict_says_why() -> Iterator[None]:
    """A verdict other than `correct` has a cause or a reason; a reader is never left with the word alone."""
    finish = facts.finished

    def finished(report: Report) -> Report:
        made = finish(report)
        for row in made.gradients:
            assert row.verdict is Verdict.CORRECT or row.diagnostics or row.reason, (
                f"{row.call}: {row.verdict}"
            )
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts, "finished", finished)
        yield

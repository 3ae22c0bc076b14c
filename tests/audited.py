"""Runs a script in this process, audited as `gradproof run` audits it; and what holds for every report."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

from gradproof import causes
from gradproof.audit.relocate import relative_to
from gradproof.audit.session import Session
from gradproof.clock import unlimited
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.occasion import occasions
from gradproof.diagnosis.report import Report, Script
from gradproof.judge.verdict import Verdict


def audited(path: Path) -> tuple[Report, tuple[str, ...]]:
    """The report of a session of its own, and the faults of ours that it met."""
    session = Session()
    session.start()
    try:
        # What a script prints, and what NumPy warns of when it divides by zero, belongs to the script.
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
            exec(code, {"__name__": "__main__", "__file__": str(path)})
    finally:
        session.stop()
    report = session.report(Script(path.name))
    assert_every_verdict_says_why(report)
    return relative_to(report, str(path.parent)), tuple(session.faults)


def undeclared(case: Case) -> list[str]:
    """The causes that would speak of a case without one of the occasions on which they say that they do."""
    shown = occasions(case)
    with unlimited():
        return [
            f"{cause.name}: {found.headline}"
            for cause in causes.causes()
            if shown.isdisjoint(cause.on)
            for found in cause.find(case)
        ]


def assert_every_verdict_says_why(report: Report) -> None:
    """A verdict other than `correct` has a cause or a reason; a reader is never left with the word alone."""
    for row in report.gradients:
        assert row.verdict is Verdict.CORRECT or row.diagnostics or row.reason, f"{row.call}: {row.verdict}"

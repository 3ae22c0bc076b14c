"""Runs a script in this process, audited as `gradproof run` audits it."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

from gradproof.audit.relocate import relative_to
from gradproof.audit.session import Session
from gradproof.diagnosis.report import Report, Script


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
    return relative_to(session.report(Script(path.name)), str(path.parent)), tuple(session.faults)

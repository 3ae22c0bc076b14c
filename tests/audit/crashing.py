"""Runs a program under audit in this process, as `gradproof run` does in one of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradproof.audit.crash import connect
from gradproof.audit.session import Session
from gradproof.diagnosis.report import Report, Script


def audited(folder: Path, text: str) -> Report:
    """The report of a program given by its text, whether it crashes or not."""
    path = folder / "program.py"
    path.write_text(text)
    session = Session()
    session.start()
    names: dict[str, Any] = {"__name__": "__main__"}
    error: BaseException | None = None
    try:
        exec(compile(text, str(path), "exec"), names)
    except Exception as raised:
        # Without this frame, as the runner of scripts hands it on.
        error = raised.with_traceback(raised.__traceback__ and raised.__traceback__.tb_next)
    try:
        crash = session.conclude(error)
    finally:
        session.stop()
    words = None if error is None else f"{type(error).__name__}: {error}"
    return connect(session.report(Script(str(path), words)), error, crash)

"""Runs scripts in a process of its own, each judged in place and kept for later at the same time.

`python -m tests.deferred.recording FOLDER SCRIPT...` makes `FOLDER/<n>` for the n-th script: what was kept, and
`in_place.json`, the report of the run itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradproof.audit.conclude import with_rules_tried
from gradproof.audit.crash import ending_of
from gradproof.audit.run_report import run_report
from gradproof.audit.session import Session
from gradproof.deferred.keeping import FolderKeeper, keeper_in
from gradproof.deferred.model import Ended
from gradproof.diagnosis.report import GradientReport, Report, Script
from gradproof.ir.capture import Capture
from gradproof.render.to_json import to_json


@dataclass(eq=False)
class BothWays:
    """Keeps every call, and has it judged at once as well."""

    inner: FolderKeeper
    gradients: list[GradientReport] = field(default_factory=list)
    frameworks: set[str] = field(default_factory=set)
    n_not_kept: int = 0
    is_kept: bool = False

    def keep(self, captures: Sequence[Capture], are_tried: bool = False) -> bool:
        self.is_kept = self.inner.keep(captures, are_tried)
        self.n_not_kept += not self.is_kept
        self.frameworks |= self.inner.frameworks
        return False

    def tell(self, reports: Sequence[GradientReport], are_tried: bool = False) -> None:
        if not self.is_kept:
            self.inner.tell(reports, are_tried)
        self.is_kept = False
        self.gradients = (
            with_rules_tried(self.gradients, reports) if are_tried else [*self.gradients, *reports]
        )


def record(path: Path, folder: Path) -> None:
    """Run a script; `folder` has what was kept, and the report of judging in place."""
    keeper = BothWays(keeper_in(str(folder), Session().options))
    session = Session(keeper=keeper)
    session.start()
    error = crash = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
            exec(code, {"__name__": "__main__", "__file__": str(path)})
    except SystemExit:
        pass
    except Exception as raised:
        error = raised
    try:
        crash = session.conclude(error)
    finally:
        session.stop()
    script, known = Script(path.name), session.known()
    keeper.inner.end(Ended(known, script, ending_of(error), crash))
    report = run_report(keeper.gradients, known, script, 0.0, ending_of(error), crash, os.getcwd())
    assert not session.faults, session.faults
    told = {"report": comparable(report), "not_kept": keeper.n_not_kept}
    (folder / "in_place.json").write_text(json.dumps(told), encoding="utf-8")


def comparable(report: Report) -> dict[str, Any]:
    """Everything a report says but times: pictures have as many points as there was time for."""
    bare = replace(report, gradients=tuple(replace(one, drawing=None) for one in report.gradients))
    document: dict[str, Any] = json.loads(to_json(bare, full=True))
    del document["timing"]
    document["notes"] = [note for note in document["notes"] if not note.startswith("checking took ")]
    return document


if __name__ == "__main__":
    for k, name in enumerate(sys.argv[2:]):
        record(Path(name), Path(sys.argv[1]) / str(k))

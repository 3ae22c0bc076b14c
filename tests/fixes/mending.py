"""Mends a script as `gradproof run --fix` does, in this process: what became of it, and what was claimed."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gradproof.audit import patched_run
from gradproof.audit.changed_meaning import changed_gradient
from gradproof.audit.crash import connect
from gradproof.audit.patched_run import is_at_fault, with_tried_patches
from gradproof.audit.relocate import relative_to
from gradproof.audit.second_run import Mended, RerunProgram
from gradproof.audit.session import Session
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.report import Report, Script
from gradproof.fixes import choose
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.kinds import serving
from gradproof.render.to_diff import patched_texts, to_diff
from gradproof.render.to_json import to_document


@dataclass(frozen=True)
class Outcome:
    """`kind` is clean, mended, better, unmended or no patch; `claims` are the fixes that were called checked.

    `unsaid` tells by how much the program means something else, where no fix says that it does; `offered` are the
    kinds of fixes that had a change to offer.
    """

    kind: str
    kinds: tuple[str, ...]
    claims: int
    diff: str
    unsaid: str = ""
    offered: frozenset[str] = frozenset()

    @property
    def is_false(self) -> bool:
        return bool(self.claims) and (self.kind == "unmended" or bool(self.unsaid))


def mend(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    offered = _noted(monkeypatch)
    return replace(_mended(source, folder, monkeypatch), offered=frozenset(offered))


def _noted(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the kinds that offer something, as they do."""
    names: set[str] = set()

    def listened(kind: FixKind) -> FixKind:
        def offer(fault: Fault) -> Iterator[Fix]:
            for fix in kind.offer(fault):
                names.update([kind.name] if fix.patch or fix.checked else [])
                yield fix

        return replace(kind, offer=offer)

    monkeypatch.setattr(choose, "serving", lambda cause: tuple(map(listened, serving(cause))))
    return names


def _mended(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    before, _ = _report(source, folder / "before")
    faulty = _faulty(before)
    if not faulty:
        return Outcome("clean", _kinds(before), 0, "")
    ran: dict[
        str, tuple[Report, str]
    ] = {}  # by the text: one that was tried is not run once more to be judged

    def again(program: RerunProgram, changed: Mended, seconds: float) -> Any:
        found, _ = ran[changed.text] = _report(changed.text, folder / f"try{len(ran)}")
        return {"report": json.loads(json.dumps(to_document(found, full=True)))}

    monkeypatch.setattr(patched_run, "ran_again", again)
    path = folder / "before" / "script.py"
    told = with_tried_patches(before, RerunProgram((), (str(path.parent),), str(path)), 1.0)
    diff = to_diff(told)
    text = patched_texts(told).get("script.py")
    if not diff or text is None:
        return Outcome("no patch", _kinds(before), 0, "")
    claims = sum(
        bool(one.fix and one.fix.patch and one.fix.checked)
        for each in told.gradients
        for one in each.diagnostics
    )
    after, error = ran[text] if text in ran else _report(text, folder / "after")
    left = _faulty(after)
    is_worse = (error and not _error(before)) or left >= faulty
    kind = "unmended" if is_worse else "mended" if not left else "better"
    return Outcome(kind, _kinds(before), claims, diff, _unsaid(told, after))


def _unsaid(told: Report, after: Report) -> str:
    """The first gradient of each name that is the derivative of something else, though no change says so."""
    fixes = [one.fix for each in told.gradients for one in each.diagnostics if one.fix and one.fix.patch]
    if any(fix.changes_meaning and not fix.is_equal for fix in fixes):
        return ""
    now = {(one.target, one.source): one for one in reversed(after.gradients)}
    was = {(one.target, one.source): one for one in reversed(told.gradients)}
    both = (changed_gradient(one, now[name]) for name, one in was.items() if name in now)
    return "; ".join(filter(None, both))


def _report(source: str, folder: Path) -> tuple[Report, str]:
    """As `gradproof run` would make it, of a program that may end with an exception."""
    folder.mkdir(parents=True)
    path = folder / "script.py"
    path.write_text(source, encoding="utf-8")
    session, error, crash = Session(), None, None
    session.start()
    with _settings_kept(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(
                compile(source, str(path), "exec", dont_inherit=True),
                {"__name__": "__main__", "__file__": str(path)},
            )
        except Exception as raised:
            error = raised
        crash = session.conclude(error)
        session.stop()
    words = None if error is None else f"{type(error).__name__}: {error}"
    report = session.report(Script(path.name, words, int(error is not None)))
    return relative_to(connect(report, error, crash), str(folder)), words or ""


def _error(report: Report) -> str:
    return "" if report.script is None or report.script.exception is None else report.script.exception


@contextlib.contextmanager
def _settings_kept() -> Any:
    """A patch may change a setting of a framework; the next script is not to see it."""
    try:
        yield
    finally:
        jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
        if jax is not None:
            jax.config.update("jax_enable_x64", False)
        if torch is not None:
            torch.set_default_dtype(torch.float32)


def _faulty(report: Report) -> int:
    return sum(map(is_at_fault, report.gradients))


def _kinds(report: Report) -> tuple[str, ...]:
    return tuple(one.kind for each in report.gradients for one in each.diagnostics if one.severity == "error")

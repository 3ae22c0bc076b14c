"""Runs a script under audit, applies the patches of its report to a copy, and runs the copy."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.render.to_diff import to_diff
from tests.audited import audited as run_audited


def audited(path: Path) -> Report:
    report, faults = run_audited(path)
    assert not faults, faults[0]
    return report


def patched(source: str, folder: Path) -> tuple[GradientReport, str, GradientReport]:
    """The first gradient as it was, the diff, and the same gradient of the patched script."""
    before, after = folder / "before" / "script.py", folder / "after" / "script.py"
    for path in (before, after):
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")
    report = audited(before)
    diff = to_diff(report)
    apply(diff, after.parent)
    return report.gradients[0], diff, audited(after).gradients[0]


def apply(diff: str, folder: Path) -> None:
    """With whichever of the two tools there is; both read the same format."""
    tools = [["patch", "-p1", "-s"], ["git", "apply", "-p1"]]
    command = next(command for command in tools if shutil.which(command[0]) is not None)
    done = subprocess.run(command, input=diff, text=True, cwd=folder, capture_output=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{diff}"


def changed(diff: str) -> list[str]:
    lines = (line for line in diff.splitlines() if line[:1] in ("-", "+") and line[:3] not in ("---", "+++"))
    return [line[0] + line[1:].strip() for line in lines]

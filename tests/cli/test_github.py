"""Inside GitHub Actions: annotations on the error stream, the summary in its file, the standard output untouched."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from gradproof.cli.github import tell_github
from tests.cli.running import FAULTY
from tests.render.reports import RICH


def audited(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    return subprocess.run(
        [sys.executable, "-m", "gradproof", *words],
        cwd=folder,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_run_marks_the_line_after_its_report_and_adds_to_the_summary(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "script.py").write_text(FAULTY)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = audited(
        folder,
        "run",
        "script.py",
        GITHUB_ACTIONS="true",
        GITHUB_WORKSPACE=str(tmp_path),
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.stdout == "0.0\n"
    [command] = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert command.startswith("::error file=models/script.py,line=6,col=13,title=gradproof%3A cancellation::")
    assert done.stderr.rstrip().endswith(command)
    assert summary.read_text().startswith("before\n### Gradproof\n")
    assert "script.py:" in summary.read_text()


def test_a_check_keeps_its_standard_output(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    return abs(x)\n")
    words = ("check", "f.py:f", "--at", "0.0")
    plain, marked = audited(tmp_path, *words), audited(tmp_path, *words, GITHUB_ACTIONS="true")
    assert marked.stdout == plain.stdout
    assert plain.stderr == ""
    assert marked.stderr.startswith("::warning file=f.py,line=2,col=12,title=gradproof%3A kink::")


def test_elsewhere_nothing_is_said() -> None:
    for environment in ({}, {"GITHUB_ACTIONS": "false"}):
        stream = io.StringIO()
        tell_github(RICH, stream, "/repo", environment)
        assert stream.getvalue() == ""


def test_a_summary_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "none" / "s.md")}
    stream = io.StringIO()
    tell_github(RICH, stream, str(tmp_path), environment)
    assert "::error" in stream.getvalue()


def test_files_outside_the_repository_keep_their_names(tmp_path: Path) -> None:
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path / "repository")}
    stream = io.StringIO()
    tell_github(RICH, stream, str(tmp_path / "elsewhere"), environment)
    assert "file=cancellation_tf.py," in stream.getvalue()

"""What is said about short PyTorch programs as people write them: one fault each, its mended twin, or none.

A script begins with what is expected, `#! source: verdict cause`, and the lines that the cause may stand at end with
`#~`. In scripts that are right every gradient is, and nothing of level error is said.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import gradproof
from gradproof.diagnosis.report import GradientReport, Report

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

FOLDER = Path(__file__).parent / "scripts"


def _scripts() -> dict[str, str]:
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for section in path.read_text().split("### ")[1:]:
            name, _, text = section.partition("\n")
            found[f"{path.stem}-{name.strip()}"] = text
    return found


SCRIPTS = _scripts()


def _ran(text: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    path.write_text(text)
    linecache.checkcache()
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "__main__", main)
    try:
        with gradproof.watch() as report, contextlib.suppress(RuntimeError, TypeError):
            exec(compile(text, str(path), "exec"), main.__dict__)
    finally:
        torch.set_grad_enabled(True)
    return report


def _told(gradient: GradientReport) -> str:
    causes = [(one.kind, one.severity, one.primary and one.primary.span.line) for one in gradient.diagnostics]
    return f"{gradient.source}: {gradient.verdict.value} {causes} {gradient.reason or ''}"


def _fits(gradient: GradientReport, source: str, verdict: str, kind: str, lines: set[int]) -> bool:
    if gradient.source != source or gradient.verdict.value != verdict:
        return False
    own = [one for one in gradient.diagnostics if one.kind == kind and one.severity in ("error", "warning")]
    return not kind or any(one.primary is not None and one.primary.span.line in lines for one in own)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if not name.startswith("silent-")])
def test_what_is_wrong_is_told_at_its_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SCRIPTS[name]
    report = _ran(text, tmp_path / f"{name}.py", monkeypatch)
    lines = {k for k, line in enumerate(text.splitlines(), 1) if line.endswith("#~")}
    for line in text.splitlines():
        if line.startswith("#! "):
            source, _, expected = line[3:].partition(": ")
            verdict, _, kind = expected.partition(" ")
            told = [_told(one) for one in report.gradients]
            assert any(_fits(one, source, verdict, kind, lines) for one in report.gradients), told
    assert report.notes == ()


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name.startswith("silent-")])
def test_nothing_is_said_about_what_is_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = _ran(SCRIPTS[name], tmp_path / f"{name}.py", monkeypatch)
    assert report.gradients
    assert [_told(one) for one in report.gradients if one.verdict.value != "correct"] == []
    assert [
        _told(one) for one in report.gradients if any(d.severity == "error" for d in one.diagnostics)
    ] == []
    assert report.notes == ()

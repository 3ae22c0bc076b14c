"""The sandbox: what runs in it leaves no trace outside the process, and may do everything else."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from gradproof.frontends.after.sandbox import Forbidden, sandbox


def test_nothing_is_written_started_or_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sandbox():
        print("twice")
        with pytest.raises(Forbidden, match="open is not done twice"):
            (tmp_path / "file").write_text("twice")
        with pytest.raises(Forbidden, match=r"os\.system is not done twice"):
            os.system("true")
    assert not list(tmp_path.iterdir())
    assert capsys.readouterr().out == ""
    (tmp_path / "file").write_text("outside of it, as ever")


def test_a_module_imported_for_the_first_time_leaves_no_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "never_seen_before.py").write_text("ANSWER = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with sandbox():
        module = importlib.import_module("never_seen_before")
    assert module.ANSWER == 42
    assert [path.name for path in tmp_path.iterdir()] == ["never_seen_before.py"]
    assert not sys.dont_write_bytecode

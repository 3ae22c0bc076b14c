"""A program that is run with another text than that of its file."""

from __future__ import annotations

import linecache
from dataclasses import replace
from pathlib import Path

import pytest

from gradproof.audit.target import find_script


def test_who_has_the_lines_read_anew_gets_those_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AutoGraph of TensorFlow does, and compiled what stood on disk in the place of the change that was tried."""
    monkeypatch.setattr(linecache, "updatecache", linecache.updatecache)
    script, other = tmp_path / "script.py", tmp_path / "other.py"
    script.write_text("print(1)\n", encoding="utf-8")
    other.write_text("print(2)\n", encoding="utf-8")
    replace(find_script(str(script)), text="print(3)\n").compile()
    for read in (linecache.updatecache, linecache.getlines):
        assert read(str(script)) == ["print(3)\n"] and read(str(other)) == ["print(2)\n"]

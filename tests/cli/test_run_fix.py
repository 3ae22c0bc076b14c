"""`gradproof run --fix`: a diff that mends the script, and a script that is left as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.running import FAULTY, RIGHT, run

pytestmark = pytest.mark.timeout(240)


def _run(folder: Path, text: str) -> str:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    run([sys.executable, "-m", "gradproof", "run", "--quiet", "--fix", "all.diff", "script.py"], folder)
    assert script.read_text(encoding="utf-8") == text
    return (folder / "all.diff").read_text(encoding="utf-8")


def test_the_diff_mends_the_script(tmp_path: Path) -> None:
    diff = _run(tmp_path, FAULTY)
    _, _, changes = diff.partition("\n--- a/script.py\n+++ b/script.py\n")
    old, new = ([line[1:] for line in changes.splitlines() if line[:1] == sign] for sign in "-+")
    mended = "\n".join(
        new[0] if line == old[-1] else line for line in FAULTY.split("\n") if line not in old[:-1]
    )
    assert "2e" in run([sys.executable, "-c", mended], tmp_path).stdout.replace("0000000000.0", "e10")


def test_nothing_to_mend_leaves_an_empty_diff(tmp_path: Path) -> None:
    assert _run(tmp_path, RIGHT) == ""

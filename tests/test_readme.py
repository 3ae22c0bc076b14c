"""What the README promises is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in fenced if name == language]


def test_the_gate_runs_the_test_command_word_for_word() -> None:
    (command,) = [block.strip() for block in _blocks("") if "pytest" in block]
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_first_command_prints_what_the_readme_shows() -> None:
    (shown,) = _blocks("text")
    command = [sys.executable, "-m", "gradproof", "run", "examples/first.py"]
    plain = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=plain, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 1  # a faulty gradient was found
    assert done.stdout.strip() == shown.strip()


@pytest.mark.parametrize("number", range(len(_blocks("python"))))
def test_python_examples_run(number: int) -> None:
    code = _blocks("python")[number]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

"""The line of progress is seen on a terminal while a check takes long, and is gone before the program goes on."""

from __future__ import annotations

import io
import os
import pty
import re
import sys
from pathlib import Path

import pytest

from gradproof.audit.budget import Budget
from gradproof.cli.progress import PATIENCE, Progress, progress_on
from tests.cli.running import interruptible

# The first check takes long enough to be shown; stdout and stderr belong to the program again after it.
SLOW = """\
import sys
import numpy as np
import gradproof as gp
x = gp.Variable(np.linspace(0.0, 1.0, 40_000))
with gp.GradientTape() as tape:
    y = x
    for _ in range(12):
        y = np.exp(np.sin(y))
    loss = np.sum(y) - np.sum(y) + 1e-60 * np.sum(y)
print("before", file=sys.stderr)
tape.gradient(loss, x)
print("after", file=sys.stderr)
"""
ERASED = "\x1b[2K"  # what a terminal understands as "clear this line"


def errors_on_a_terminal(folder: Path, *options: str) -> str:
    """What a program under audit writes to its error stream, which is a terminal."""
    (folder / "script.py").write_text(SLOW)
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "gradproof", "run", *options, "script.py"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with interruptible(words, folder, stdout=None, stderr=theirs, env=environment):
        os.close(theirs)
        written = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not piece:
                break
            written += piece
    os.close(ours)
    return written.decode()


def test_a_long_check_is_shown_with_its_place_and_the_time_left_and_taken_back(tmp_path: Path) -> None:
    errors = errors_on_a_terminal(tmp_path, "--budget", "2")
    during = errors.split("before")[1].split("after")[0]
    # Which stage of the check is met when the line is drawn is a matter of how busy the machine is.
    assert re.search(r"gradproof \d s in checks, \d s left.*?script\.py:11: \w+", during, re.DOTALL)
    assert during.rstrip("\r\n").endswith(ERASED)
    assert "in checks," not in errors.split("after")[1]


def test_quiet_is_quiet_on_a_terminal_too(tmp_path: Path) -> None:
    errors = errors_on_a_terminal(tmp_path, "--budget", "1", "--quiet")
    assert "\x1b" not in errors
    assert "s in checks" not in errors


def test_a_file_and_a_plain_terminal_show_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    assert progress_on(Terminal(), Budget(), is_quiet=False) is not None
    assert progress_on(Terminal(), Budget(), is_quiet=True) is None
    assert progress_on(io.StringIO(), Budget(), is_quiet=False) is None
    assert progress_on(None, Budget(), is_quiet=False) is None
    monkeypatch.setenv("TERM", "dumb")
    assert progress_on(Terminal(), Budget(), is_quiet=False) is None


def test_a_short_check_draws_nothing() -> None:
    stream = io.StringIO()
    progress = Progress(stream, Budget())
    for _ in range(3):
        progress.show(("train.py:12",))
    progress.hide()
    assert stream.getvalue() == ""
    assert PATIENCE > 0

"""Runs programs the plain way and under gradproof, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# A script whose gradient is exactly 0.0 and should be 2e10: the numbers are those of float32 near 1e10.
FAULTY = """\
import numpy as np
import gradproof as gp
x = gp.Variable(np.float32(1.0), name="x")
with gp.GradientTape() as tape:
    y = x * np.float32(1e10) + np.float32(1.0)
    loss = (y - np.float32(1e10)) ** 2
g = tape.gradient(loss, x)
print(g)
"""
RIGHT = """\
import numpy as np
import gradproof as gp
w = gp.Variable(np.array([1.0, 2.0]))
for step in range(12):
    with gp.GradientTape() as tape:
        loss = np.sum(np.exp(w))
    g = tape.gradient(loss, w)
print(g)
"""


def run(words: list[str], folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=120, env=_environment(), **options
    )


@contextmanager
def interruptible(words: list[str], folder: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A program that ends with the block, and that Ctrl-C reaches though the tests may ignore it (`nohup`, `&`)."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    # What is handled here is as by default in a new program, and what is ignored stays ignored. `preexec_fn` would
    # do it too, but forks this process, and the threads of a framework that other tests loaded warn of that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(words, cwd=folder, **streams)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            # Whatever went wrong in the block, leaving it waits for the program.
            process.kill()


def _environment() -> dict[str, str]:
    """Without settings of the surroundings that change when Python writes its output, or what gradproof adds."""
    return {
        key: value for key, value in os.environ.items() if key not in ("PYTHONUNBUFFERED", "GITHUB_ACTIONS")
    }


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, *words], folder)


def gradproof(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "gradproof", *words], folder)


def audited(folder: Path, script: str, *options: str) -> dict[str, Any]:
    """The JSON report of a script given by its text."""
    (folder / "script.py").write_text(script)
    done = gradproof(folder, "run", "--json", "report.json", *options, "script.py")
    found = json.loads((folder / "report.json").read_text())
    assert isinstance(found, dict)
    for row in found["gradients"]:
        assert row["verdict"] == "correct" or row["causes"] or row["reason"], row
    return {**found, "status": done.returncode, "stderr": done.stderr, "stdout": done.stdout}

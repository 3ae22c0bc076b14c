"""Processes that work for us are not seen: not on the terminal, and not beside other clusters."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

import gradproof
from gradproof.cluster.workers import workers
from gradproof.deferred import judging
from gradproof.deferred.folder import SUFFIX, read_block
from gradproof.deferred.model import Judged
from gradproof.errors import InvalidInput

INTERRUPTED = """\
import os, signal, time
from gradproof.cluster.workers import workers

def struck(k):
    os.kill(os.getpid(), signal.SIGINT)  # as a terminal does to all processes that it has
    time.sleep(0.5)
    return k

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever has started the tests may not listen
    with workers(2) as done:
        print(sorted(done(struck, {"first": (1,), "second": (2,)})))
        try:
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()
        except KeyboardInterrupt:
            print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_ctrl_c_is_heard_by_the_program_only_and_another_cluster_is_no_matter(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "script.py").write_text(INTERRUPTED)
    with socket.socket() as other:
        with suppress(OSError):  # or somebody has it already
            other.bind(("", 8787))
            other.listen()
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=90,
            env={**os.environ, "PYTHONWARNINGS": "always::UserWarning"},
        )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[('first', 1), ('second', 2)]\ninterrupted\n", "")


def test_the_time_of_a_check_does_not_begin_before_its_framework_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gradproof.watch(defer=tmp_path / "kept"):
        x = gradproof.Variable(2.0)
        with gradproof.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    now = 0.0

    def slow_import(capture: object) -> None:
        nonlocal now
        now = 3600.0

    monkeypatch.setattr(judging, "_import_framework", slow_import)
    monkeypatch.setattr(judging, "time", SimpleNamespace(perf_counter=lambda: now))
    (kept,) = (tmp_path / "kept").rglob(f"00000001{SUFFIX}")
    found = read_block(
        judging.judged(str(kept), 0, (), gradproof.Options(), "key", (1.0, "too long")), Judged
    )
    assert [str(one.verdict) for one in found.reports] == ["correct"]
    assert found.seconds == 0.0


def test_processes_that_do_not_start_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the system ends one of them before it has begun."""
    distributed = pytest.importorskip("distributed")

    def ended(**options: object) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", ended)
    with (
        pytest.raises(InvalidInput, match="2 processes could not be started: Nanny failed to start"),
        workers(2),
    ):
        pass

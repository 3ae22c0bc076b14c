"""Processes that work for us are not seen: not on the terminal, and not beside other clusters."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

INTERRUPTED = """\
import os, signal, time
from gradproof.cluster.workers import workers

def struck(k):
    os.kill(os.getpid(), signal.SIGINT)  # as a terminal does to all processes that it has
    time.sleep(0.5)
    return k

if __name__ == "__main__":
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

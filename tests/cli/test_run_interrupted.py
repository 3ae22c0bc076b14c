"""Ctrl-C gives the report of what is known, wherever it comes; a second one ends that too."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import FAULTY, interruptible

# Says when the first check begins: how long it takes until then depends on the machine.
TOLD = """\
import gradproof.audit.session as session
examined = session.examined


def told(*args):
    session.examined = examined
    print("ready", flush=True)
    return examined(*args)


session.examined = told
"""
# A check of many seconds; the second gradient is right and quick.
LONG_CHECK = (
    """\
import numpy as np
import gradproof as gp
"""
    + TOLD
    + """


def gradient():
    x = gp.Variable(np.linspace(0.0, 1.0, 200_000))
    with gp.GradientTape() as tape:
        y = x
        for _ in range(60):
            y = np.exp(np.sin(y))
        loss = np.sum(y) - np.sum(y) + 1e-60 * np.sum(y)
    return tape.gradient(loss, x)


"""
)
INSIDE = 0.5  # seconds after "ready": well within the check, which takes more than ten


@contextmanager
def started(folder: Path, script: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A program under audit that has said it is ready."""
    (folder / "script.py").write_text(script)
    words = [sys.executable, "-m", "gradproof", "run", *options, "script.py"]
    with interruptible(words, folder) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None
        yield process


def test_in_the_users_code_the_exit_status_is_that_of_ctrl_c_though_a_fault_was_found(tmp_path: Path) -> None:
    script = f"{FAULTY}print('ready', flush=True)\nimport time\ntime.sleep(60)\n"
    with started(tmp_path, script, "--json", "report.json") as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "error[cancellation]" in errors
    assert "the script ended with KeyboardInterrupt" in errors
    assert json.loads((tmp_path / "report.json").read_text())["script"]["exception"] == "KeyboardInterrupt"


def test_inside_a_check_the_gradient_is_unverified_and_the_traceback_ends_at_the_users_line(
    tmp_path: Path,
) -> None:
    with started(tmp_path, f"{LONG_CHECK}gradient()\n", "--json", "report.json") as process:
        time.sleep(INSIDE)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - began < 5
    [found] = json.loads((tmp_path / "report.json").read_text())["gradients"]
    assert (found["verdict"], found["reason"]) == (
        "unverified",
        "interrupted: Ctrl-C came while it was checked",
    )
    traceback = errors[: errors.index("\nKeyboardInterrupt\n")]
    assert traceback.splitlines()[-1].strip(" ^~") in ("", "return tape.gradient(loss, x)")
    assert re.findall(r'File "(.+?)"', traceback) == [str(tmp_path / "script.py")] * 2


def test_a_program_that_catches_ctrl_c_gets_it_from_inside_a_check_and_goes_on(tmp_path: Path) -> None:
    script = (
        f"{LONG_CHECK}try:\n    gradient()\nexcept KeyboardInterrupt:\n    print('caught', flush=True)\n"
        "x = gp.Variable(3.0)\nwith gp.GradientTape() as tape:\n    y = x * x\nprint(tape.gradient(y, x))\n"
    )
    with started(tmp_path, script) as process:
        time.sleep(INSIDE)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output == "caught\n6.0\n"
    assert "1 of 2 gradients correct, 1 unverified" in errors


@pytest.mark.tensorflow
def test_a_tape_of_tensorflow_that_was_interrupted_in_its_check_is_left_as_it_would_be(
    tmp_path: Path,
) -> None:
    pytest.importorskip("tensorflow")
    script = (
        TOLD
        + """\
import tensorflow as tf


def gradient(y, n):
    x = tf.Variable(tf.linspace(tf.constant(0.0, tf.float64), 1.0, n))
    with tf.GradientTape() as tape:
        z = x
        for _ in range(60):
            z = tf.exp(tf.sin(z))
        loss = tf.reduce_sum(z) - tf.reduce_sum(z) + y * tf.reduce_sum(z)
    try:
        return tape.gradient(loss, x)
    except KeyboardInterrupt:
        print("caught", flush=True)
        return x


print(gradient(1e-60, 200_000).shape)
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    loss = x * x
print(float(tape.gradient(loss, x)))
"""
    )
    with started(tmp_path, script, "--json", "report.json") as process:
        time.sleep(INSIDE)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert output == "caught\n(200000,)\n6.0\n"
    found = json.loads((tmp_path / "report.json").read_text())["gradients"]
    assert found[0]["reason"] == "interrupted: Ctrl-C came while it was checked"
    assert [each["verdict"] for each in found if each["source"]["shape"] == []] == ["correct"]


def test_a_second_ctrl_c_ends_the_report_at_once(tmp_path: Path) -> None:
    # A report that is written into a pipe nobody reads never ends by itself.
    os.mkfifo(tmp_path / "report.json")
    script = f"{FAULTY}print('ready', flush=True)\nimport time\ntime.sleep(60)\n"
    with started(tmp_path, script, "--json", "report.json") as process:
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        while not process.stderr.readline().startswith("gradproof: "):
            assert process.poll() is None
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in errors

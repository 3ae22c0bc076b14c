"""`explain`, `doctor`, `schema` and the overview."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gradproof import __version__
from gradproof.causes import causes
from gradproof.cli.main import COMMANDS, main

Capture = pytest.CaptureFixture[str]


def test_every_cause_can_be_explained(capsys: Capture) -> None:
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out
    for cause in causes():
        assert cause.name in listed
        assert main(["explain", cause.name]) == 0
        assert capsys.readouterr().out.startswith(f"{cause.name}: ")


def test_an_unknown_cause_is_answered_with_the_nearest(capsys: Capture) -> None:
    assert main(["explain", "Cancelation"]) == 2
    said = capsys.readouterr().err
    assert "there is no cause named `Cancelation`; there is one with a similar name: cancellation" in said


def test_the_doctor_names_what_is_installed_without_importing_it(capsys: Capture) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"gradproof     {__version__}" in said
    for name in ("python-flint", "NumPy", "TensorFlow", "JAX", "PyTorch"):
        assert name in said


def test_help_and_version_end_well(capsys: Capture) -> None:
    for words in (["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    said = capsys.readouterr().out
    assert f"gradproof {__version__}\n" in said
    for name, summary in COMMANDS.items():
        assert f"{name:<9}{summary}" in said


@pytest.mark.tensorflow
def test_coverage_is_computed_from_the_registry_and_tensorflow_itself_is_silent() -> None:
    pytest.importorskip("tensorflow")
    silent_by_itself = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    command = [sys.executable, "-m", "gradproof", "doctor", "--coverage", "tensorflow"]
    done = subprocess.run(command, capture_output=True, text=True, env=silent_by_itself, check=True)
    assert "ops with a registered gradient" in done.stdout
    covered, opaque = done.stdout.split("exact meaning", 1)[1].split("\nopaque", 1)
    assert "MatMul" in covered
    assert "MatMul" not in opaque.split("\n", 1)[1].split("out of scope")[0].split(", ")
    assert done.stderr == ""

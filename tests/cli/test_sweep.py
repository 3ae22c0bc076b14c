"""`gradproof sweep` from the shell, with a library that is known to lose digits in one place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradproof.cli.main import main

# Ops with a fault at these points, in the order of their names.
ARGUMENTS = [
    "sweep",
    "torch",
    "--ops",
    "sinc,soft_margin_loss",
    "--dtypes",
    "float32",
    "--points",
    "small,large",
]


@pytest.mark.torch
def test_a_sweep_finds_faults_keeps_them_and_writes_them(tmp_path: Path) -> None:
    written = ["--dir", "kept", "--markdown", "page.md", "--json", "all.json", "--issues", "issues"]
    command = [sys.executable, "-m", "gradproof", *ARGUMENTS, *written]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "nonfinite: torch.nn.functional.soft_margin_loss(x, y, reduction='mean'): returned nan"
    )
    assert lines[1].startswith("inaccurate: torch.sinc(x): returned 0.0, the derivative is 2.63")
    assert lines[2] == "PyTorch: 2 ops, 6 gradients, 2 faults"
    assert "--ops torch.sinc --dtypes float32 --points small`" in (tmp_path / "page.md").read_text()
    assert [result["op"] for result in json.loads((tmp_path / "all.json").read_text())] == [
        "torch.nn.functional.soft_margin_loss",
        "torch.sinc",
    ]
    assert len(list((tmp_path / "issues").iterdir())) == 2


def test_what_a_sweep_cannot_do_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "torch", "--dtypes", "int8"]) == 2
    assert "--dtypes takes float32, float64; it was 'int8'" in capsys.readouterr().err
    assert main(["sweep", "torch", "--jobs", "0"]) == 2
    assert "--jobs and --samples are whole numbers from 1 on" in capsys.readouterr().err

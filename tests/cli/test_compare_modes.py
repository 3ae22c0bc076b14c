"""`gradproof compare` of a script and of a function: the script runs as Python runs it, the forms agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradproof.cli.main import main
from tests.cli.running import FAULTY, run


def test_a_script_is_run_and_its_gradient_compared(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY + "import sys\nprint(sys.argv[1:])\n")
    words = ["script.py", "--frameworks", "none", "--json", "out.json", "--html", "out.html"]
    done = run(["gradproof", "compare", *words, "--", "--line", "3"], tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("0.0\n['--line', '3']\n"), done.stdout
    assert "verdict  NumPy op by op is inaccurate (0.0 of 7.2 digits)" in done.stdout
    assert "run:     NumPy op by op in float64 returns" in done.stdout
    data = json.loads((tmp_path / "out.json").read_text())
    (call,) = data["calls"]
    own = next(one for one in call["modes"] if one["own"])
    assert (call["line"], own["dtype"], own["gradients"][0]["gradient"]) == (7, "float32", 0.0)
    assert call["verdict"]["kind"] == "inaccurate"
    page = (tmp_path / "out.html").read_text()
    assert "NumPy, tape" in page and "✗ 0.0 of 7.2 inaccurate" in page and "<script" not in page


def test_a_line_without_a_gradient_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY)
    done = run(["gradproof", "compare", "script.py", "--line", "3"], tmp_path)
    assert done.returncode == 2 and "line 3 of `script.py` asked for no gradient" in done.stderr


def test_a_function_is_compared_at_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "losses.py").write_text("def square(x):\n    return x * x\n")
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "losses.py:square", "--at", "3.0", "--frameworks", "none", "--quiet"]) == 0
    told = capfd.readouterr().out
    assert ": agree: all modes agree with the proven gradient in float64" in told


def test_a_function_needs_values(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "losses.py:square"]) == 2
    assert "the arguments of the function are needed" in capfd.readouterr().err

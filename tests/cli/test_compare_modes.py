"""`gradproof compare` of a script and of a function: the script runs as Python runs it, the forms agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradproof.cli.main import main
from tests.cli.running import FAULTY, gradproof


def test_a_script_is_run_and_its_gradient_compared(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY + "import sys\nprint(sys.argv[1:])\n")
    words = ["script.py", "--frameworks", "none", "--json", "out.json", "--html", "out.html"]
    done = gradproof(tmp_path, "compare", *words, "--", "--line", "3")
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
    done = gradproof(tmp_path, "compare", "script.py", "--line", "3")
    assert done.returncode == 2 and "line 3 of `script.py` asked for no gradient" in done.stderr


def test_a_function_is_compared_at_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "losses.py").write_text("def square(x):\n    return x * x\n")
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "losses.py:square", "--at", "3.0", "--frameworks", "none", "--quiet"]) == 0
    told = capfd.readouterr().out
    assert ": agree: your own run agrees with the proven gradient in float64; no other mode" in told


def test_a_function_needs_values(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "losses.py:square"]) == 2
    assert "the arguments of the function are needed" in capfd.readouterr().err


def test_every_gradient_of_a_line_is_compared_and_the_exit_status_passed_on(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import sys\nimport numpy as np\nimport gradproof\n"
        "x = gradproof.Variable(np.array([1.0, 2.0]))\n"
        "with gradproof.GradientTape(persistent=True) as tape:\n    y, z = np.sum(x * x), np.sum(3 * x)\n"
        "for _ in range(3):\n    a, b = tape.gradient(y, x), tape.gradient(z, x)\n"
        "sys.exit(3)\n"
    )
    words = ["script.py", "--frameworks", "none", "--here", "--quiet"]
    done = gradproof(tmp_path, "compare", *words)
    assert done.returncode == 3, done.stderr
    places = [line.partition(": ")[0] for line in done.stdout.splitlines()]
    assert places == ["script.py:8:12", "script.py:8:33"]


def test_a_framework_that_nobody_knows_is_told_before_the_script_runs(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('ran')\n")
    done = gradproof(tmp_path, "compare", "script.py", "--frameworks", "mxnet")
    assert done.returncode == 2 and "no framework `mxnet`" in done.stderr and "ran" not in done.stdout


@pytest.mark.tensorflow
def test_a_compiled_script_is_compared(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "script.py").write_text(
        "import tensorflow as tf\nx = tf.Variable([1.0, 2.0])\n"
        "loss = tf.function(lambda: tf.reduce_sum(x * x), jit_compile=True)\n"
        "with tf.GradientTape() as tape:\n    y = loss()\nprint(tape.gradient(y, x).numpy())\n"
    )
    words = ["script.py", "--frameworks", "none", "--here", "--quiet"]
    done = gradproof(tmp_path, "compare", *words)
    assert done.returncode == 0 and "script.py:6:7: agree:" in done.stdout, done.stdout + done.stderr


def test_a_budget_is_a_number_of_seconds_and_is_kept(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY)
    refused = gradproof(tmp_path, "compare", "script.py", "--budget", "soon")
    assert refused.returncode == 2 and "a number of seconds is needed, not 'soon'" in refused.stderr
    done = gradproof(tmp_path, "compare", "script.py", "--budget", "0", "--frameworks", "none")
    assert done.returncode == 0, done.stderr
    assert "NumPy, tape: the 0 s for this gradient were over (--budget gives more)" in done.stdout
    assert "whether your own run is right was not decided" in " ".join(done.stdout.split())


LOOP = (
    "import numpy as np\nimport gradproof\nfor k in range(6):\n    x = gradproof.Variable(np.array(float(k)))\n"
    "    with gradproof.GradientTape() as tape:\n        y = x * x\n    tape.gradient(y, x)\n"
)


def test_the_execution_of_a_line_is_said_and_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LOOP)
    words = ["script.py", "--frameworks", "none", "--here"]
    first = gradproof(tmp_path, "compare", *words)
    said = "note: script.py:7:5: execution 1 was compared, and it ran more often; --execution chooses another"
    assert said in " ".join(first.stdout.split()), first.stdout + first.stderr
    assert "d y / d x  script.py:7:5\n" in first.stdout
    fifth = gradproof(tmp_path, "compare", *words, "--execution", "5", "--json", "out.json")
    assert "d y / d x  script.py:7:5, execution 5\n" in fifth.stdout, fifth.stdout + fifth.stderr
    (call,) = json.loads((tmp_path / "out.json").read_text())["calls"]
    assert (call["occurrence"], call["sources"][0]["reference"]) == (5, 8.0)
    last = gradproof(tmp_path, "compare", *words, "--execution", "6")
    assert "d y / d x  script.py:7:5, execution 6\n" in last.stdout and "more often" not in last.stdout


def test_an_execution_that_was_not_reached_is_told(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LOOP)
    words = ["compare", "script.py", "--execution"]
    done = gradproof(tmp_path, *words, "7")
    assert done.returncode == 2 and "no line of `script.py` asked for a gradient 7 times" in done.stderr
    done = gradproof(tmp_path, *words, "7", "--line", "7")
    assert done.returncode == 2 and "line 7 of `script.py` asked for no gradient 7 times" in done.stderr
    done = gradproof(tmp_path, *words, "0")
    assert done.returncode == 2 and "a whole number from 1 on is needed, not '0'" in done.stderr


def test_arguments_are_made_with_the_framework_of_the_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "cubes.py").write_text("import torch\n\n\ndef cubes(x):\n    return torch.sum(x * x * x)\n")
    monkeypatch.chdir(tmp_path)
    words = ["cubes.py:cubes", "--at", "[1, 2]"]
    main(["compare", *words, "--frameworks", "none", "--here", "--quiet", "--budget", "0"])
    assert "your own run" in capfd.readouterr().out
    assert main(["check", *words]) == 0
    assert "1 gradient correct, proven" in capfd.readouterr().out

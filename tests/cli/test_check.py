"""`gradproof check`: a function at given values, from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gradproof.cli.values import parse_value, parse_values
from gradproof.errors import InvalidInput
from tests.cli.running import gradproof, run

FUNCTIONS = """\
import numpy as np


def softplus_minus(x):
    return np.log(np.exp(x) + 1) - x


def slope(x):
    return np.exp(x) / (np.exp(x) + 1) - 1


def twice_slope(x):
    return 2 * slope(x)


def weighted(x, w=1.0):
    return np.sum(w * x**2)


def powers(x):
    return x**2


class Model:
    @staticmethod
    def loss(x):
        return np.sum(np.sin(x))


limit = 3.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    return tmp_path


def test_a_function_is_checked_in_the_precision_asked_for(folder: Path) -> None:
    done = gradproof(folder, "check", "functions:softplus_minus", "--at", "14", "--dtype", "float32")
    assert done.returncode == 1
    assert "inaccurate" in done.stdout
    assert "functions.py:5" in done.stdout
    done = gradproof(folder, "check", "functions.py:softplus_minus", "--at", "2", "--quiet")
    assert done.returncode == 0
    assert done.stdout == "gradproof: 1 gradient correct, proven; nothing to fix\n"


def test_names_methods_orders_and_arrays_are_understood(folder: Path) -> None:
    for words in (
        ["functions:weighted", "--at", "[1, 2]", "w=[[0.5], [3]]"],
        ["functions:Model.loss", "--at", "[[1, 2], [3, 4]]", "--order", "2"],
        ["functions:powers", "--at", "[1, 2]", "--each"],
        ["functions:softplus_minus", "--at", "2", "--gradient", "slope"],
    ):
        done = gradproof(folder, "check", *words, "--json", "report.json")
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads((folder / "report.json").read_text())
        assert {gradient["verdict"] for gradient in report["gradients"]} == {"correct"}
        assert all(gradient["line"] > 0 for gradient in report["gradients"]), words


def test_a_wrong_gradient_written_by_hand_is_wrong(folder: Path) -> None:
    words = ["check", "functions:softplus_minus", "--at", "2", "--gradient", "twice_slope"]
    done = gradproof(folder, *words)
    assert done.returncode == 1
    assert "wrong" in done.stdout
    assert gradproof(folder, *words, "--fail-on", "never").returncode == 0


def test_the_place_is_the_users_own_and_not_that_of_the_script_that_starts_gradproof(folder: Path) -> None:
    launcher = folder / "bin" / "gradproof"
    launcher.parent.mkdir()
    launcher.write_text("import sys\nfrom gradproof.cli.main import main\nsys.exit(main())\n")
    words = ["check", "functions.py:weighted", "--at", "[1, 2]", "--json", "report.json"]
    done = run([sys.executable, str(launcher), *words], folder)
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "report.json").read_text())
    [gradient] = report["gradients"][:1]
    assert (gradient["file"], gradient["line"]) == (
        "functions.py",
        FUNCTIONS.split("\n").index("def weighted(x, w=1.0):") + 1,
    )
    assert list(report["sources"]) == ["functions.py"]


def test_advice_is_in_the_words_of_the_command_line(folder: Path) -> None:
    done = gradproof(folder, "check", "functions:powers", "--at", "[1, 2]")
    assert done.returncode == 2
    assert "check needs a function with one number as result, but `powers` returned shape (2,)" in done.stderr
    assert "add --each" in done.stderr
    assert "output=" not in done.stderr


MISUSE = {
    "functions": "is not MODULE:FUNCTION",
    ":f": "is not MODULE:FUNCTION",
    "functions:": "is not MODULE:FUNCTION",
    "functions:powrs": "has no function `powrs`; did you mean `powers`?",
    "functions:limit": "is no function but of type float",
    "nowhere:f": "`nowhere` could not be imported",
    "nowhere.py:f": "there is no file `nowhere.py`",
}


@pytest.mark.parametrize("name", MISUSE)
def test_a_function_that_is_not_there_is_refused(name: str, folder: Path) -> None:
    done = gradproof(folder, "check", name, "--at", "1")
    assert done.returncode == 2
    assert MISUSE[name] in done.stderr
    assert "Traceback" not in done.stderr


def test_values_are_read_and_never_evaluated() -> None:
    assert parse_value("1e-3", "float64") == 1e-3
    assert parse_value("[[1, 2], [3, 4]]", "float32").dtype == np.float32
    assert parse_value("(1, 2)", "float64").tolist() == [1.0, 2.0]
    assert parse_value("1+2j", "complex128") == 1 + 2j
    args, kwargs = parse_values(["1", "x=2"], "float64")
    assert (args, kwargs) == ([1.0], {"x": 2.0})
    for text in ("__import__('os')", "x", "", "[1, [2]]", "'a'", "None", "{}", "[", "[None]", "True"):
        with pytest.raises(InvalidInput, match="not a number"):
            parse_value(text, "float64")
    with pytest.raises(InvalidInput, match="has no name"):
        parse_values(["x=1", "2"], "float64")


def test_values_may_follow_one_option_or_several(tmp_path: Path) -> None:
    (tmp_path / "products.py").write_text("def area(a, b):\n    return a * b\n")
    for at in (["--at", "1.0", "2.0"], ["--at", "1.0", "--at", "2.0"]):
        assert gradproof(tmp_path, "check", "products:area", *at).returncode == 0


BROKEN_RULE = """\
from dataclasses import replace

import numpy as np

from gradproof.ops import TABLE

right = TABLE["exp"].slopes[0]
TABLE["exp"] = replace(TABLE["exp"], slopes=(lambda m, y, x: m.mul(right(m, y, x), m.literal(np.asarray(1.5))),))


def total(x):
    return np.sum(np.exp(np.linspace(0.0, 1.0, 2000) * x))
"""


def test_a_large_function_is_witnessed_if_asked_for(tmp_path: Path) -> None:
    """The derivative rule is wrong, on the tape and in the reference alike: only the witness can tell."""
    (tmp_path / "broken.py").write_text(BROKEN_RULE)
    command = ("check", "broken.py:total", "--at", "0.5")
    assert "a fault of gradproof" not in gradproof(tmp_path, *command).stdout
    done = gradproof(tmp_path, *command, "--witness")
    assert "unverified: a fault of gradproof (along one direction its derivative rules give" in done.stdout


OF_A_FRAMEWORK = {
    "tensorflow": "import tensorflow as tf\ndef f(x):\n    return tf.reduce_sum(tf.exp(x))\n",
    "torch": "import torch\ndef f(x):\n    return torch.sum(torch.exp(x))\n",
    "jax": "import jax.numpy as jnp\ndef f(x):\n    return jnp.sum(jnp.exp(x))\n",
}


@pytest.mark.parametrize("framework", OF_A_FRAMEWORK)
def test_from_a_shell_no_frame_is_the_users_and_the_gradient_is_seen(framework: str, tmp_path: Path) -> None:
    pytest.importorskip(framework)
    (tmp_path / "losses.py").write_text(OF_A_FRAMEWORK[framework])
    words = ["losses.py:f", "--at", "[1, 2]", "--framework", framework, "--quiet"]
    done = gradproof(tmp_path, "check", *words)
    assert done.stdout == "gradproof: 1 gradient correct, proven; nothing to fix\n", done.stderr

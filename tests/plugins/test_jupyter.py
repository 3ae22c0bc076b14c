"""Notebooks, executed by a real kernel: reports below the cells, with the places that a reader knows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="notebooks are executed with nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

START = "%load_ext gradproof\nimport numpy as np\nimport gradproof as gp"
LOSS = """\
def loss(x):
    y = x * np.float32(1e10) + np.float32(1.0)
    return (y - np.float32(1e10)) ** 2
"""
# The same function without its fault, at the same lines.
MENDED = """\
def loss(x):
    y = (x - 1) * np.float32(1e10)
    return (y + np.float32(1)) ** 2
"""
AUDIT = """\
%%gradproof
import sys
x = gp.Variable(np.float32(1.0), name="x")
print("on stdout")
with gp.GradientTape() as tape:
    value = loss(x)
print("on stderr", file=sys.stderr)
tape.gradient(value, x).shape"""
ABS = """\
def slope(at):
    x = gp.Variable(at)
    with gp.GradientTape() as tape:
        y = abs(x)
    return tape.gradient(y, x)
answer = %gradproof slope(0.0)
%gradproof --quiet slope(1.0)"""
FAILING = """\
%%gradproof
x = 2.0
with gp.GradientTape() as tape:
    y = x * x
lost = tape.gradient(y, x)
print("before the fault")
print(lost.shape)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


def executed(folder: Path, *sources: str) -> list[Any]:
    """The outputs of each cell, as a notebook that is saved has them."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        # Nothing of the user's own notebooks is read, and nothing is left in their folders.
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(folder / name.lower()))
        client = nbclient.NotebookClient(
            notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(scope="module")
def outputs(folder: Path) -> dict[str, Any]:
    cells = {
        "start": START,
        "loss": LOSS,
        "audit": AUDIT,
        "mended": MENDED,
        "again": AUDIT,
        "expression": ABS,
        "answer": "print(float(answer))",
        "failing": FAILING,
        "after": "print(y)",
        "loop": "%%gradproof --checks 1,3 --quiet\nfor k in range(4):\n    slope(1.0 + k)",
        "no time": "%%gradproof --budget 0 --quiet\nslope(1.0)",
        "stopped": "%%gradproof --quiet\nslope(1.0)\nraise KeyboardInterrupt",
        "broken": "%%gradproof\n1 +",
        "option": "%%gradproof --colour\n1",
        "words": "%%gradproof slope\n1",
        "checks": "%%gradproof --checks none\n1",
        "seconds": "%%gradproof --budget soon\n1",
        "statement": "%gradproof a = 1",
        "nothing": "%gradproof",
        "await": "%%gradproof\nimport asyncio\nawait asyncio.sleep(0)",
        "timed": "%%gradproof --quiet\n%%capture\nslope(0.0)",
        "copy": ABS.partition("answer")[0] + "%gradproof slope(0.0)",
        "report": "gp.check(lambda x: abs(x), 0.0)",
        "watched": "with gp.watch() as report:\n    slope(0.0)\nreport",
    }
    return dict(zip(cells, executed(folder, *cells.values())))


def streams(cell: Any, name: str) -> str:
    return "".join(each.text for each in cell if each.output_type == "stream" and each.name == name)


def shown(cell: Any, kind: str = "display_data") -> Any:
    [found] = [each for each in cell if each.output_type == kind]
    return found


def text(cell: Any, kind: str = "display_data") -> str:
    found = shown(cell, kind).data["text/plain"]
    assert isinstance(found, str)
    return found


def test_the_output_of_an_audited_cell_is_its_own(outputs: dict[str, Any]) -> None:
    cell = outputs["audit"]
    assert streams(cell, "stdout") == "on stdout\n"
    assert streams(cell, "stderr") == "on stderr\n"
    result = shown(cell, "execute_result")
    assert (result.data["text/plain"], result.execution_count) == ("()", 3)


def test_the_report_has_html_and_text_and_names_cell_and_line(outputs: dict[str, Any]) -> None:
    report = shown(outputs["audit"])
    assert "error[cancellation]" in text(outputs["audit"])
    assert "--> In[2]:3:13" in text(outputs["audit"])
    assert "3 |     return (y - np.float32(1e10)) ** 2" in text(outputs["audit"])
    page = report.data["text/html"]
    assert "cancellation" in page
    assert "In[2]" in page
    assert not re.search(r"ipykernel_\d+|<script", page)


def test_a_function_that_a_later_cell_defines_anew_is_the_one_that_is_judged(outputs: dict[str, Any]) -> None:
    assert "1 gradient correct, proven" in text(outputs["again"])
    assert "cancellation" not in text(outputs["again"])


def test_of_two_equal_functions_the_one_that_ran_is_shown(outputs: dict[str, Any]) -> None:
    # To Python their code is equal, but they stand in different cells.
    assert "--> In[22]:4:13" in text(outputs["copy"])


def test_an_expression_is_audited_and_has_its_value(outputs: dict[str, Any]) -> None:
    cell = outputs["expression"]
    first, second = [each.data["text/plain"] for each in cell if each.output_type == "display_data"]
    assert "--> In[6]:4:13" in first
    assert "4 |         y = abs(x)" in first
    assert second == "gradproof: 1 gradient correct, proven; nothing to fix"
    assert streams(outputs["answer"], "stdout") == "0.0\n"


def test_a_cell_that_fails_shows_its_exception_as_usual_and_the_report_too(outputs: dict[str, Any]) -> None:
    cell = outputs["failing"]
    assert streams(cell, "stdout") == "before the fault\n"
    assert "error[not-watched]: there is no gradient for `x`" in text(cell)  # the crash follows from it
    assert "--> In[8]:5:8" in text(cell)
    error = shown(cell, "error")
    assert error.ename == "AttributeError"
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    assert "Cell In[8], line 7" in trace
    assert "----> 7 print(lost.shape)" in trace
    assert "run_cell_magic" not in trace
    assert "plugins" not in trace
    assert [each.output_type for each in cell].count("error") == 1
    assert streams(outputs["after"], "stdout") == "4.0\n"


def test_a_cell_that_is_interrupted_reports_what_is_known(outputs: dict[str, Any]) -> None:
    assert "1 gradient correct, proven" in text(outputs["stopped"])
    assert shown(outputs["stopped"], "error").ename == "KeyboardInterrupt"


def test_options_choose_the_checks_and_limit_the_time(outputs: dict[str, Any]) -> None:
    assert "2 gradients correct" in text(outputs["loop"])
    assert "the budget of 0 s was used up" in text(outputs["no time"])


def test_a_cell_that_is_no_python_has_its_syntax_error_and_no_report(outputs: dict[str, Any]) -> None:
    [error] = outputs["broken"]
    assert (error.output_type, error.ename) == ("error", "SyntaxError")
    assert "line 2" in re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("option", "%gradproof has no option --colour; it takes --checks, --budget and --quiet"),
        ("words", "%%gradproof does not know 'slope'"),
        ("checks", "--checks takes `powers`, `all`, `first`"),
        ("seconds", "--budget needs a number of seconds, not 'soon'"),
        ("statement", "%gradproof takes one expression, not 'a = 1'; %%gradproof takes a cell"),
        ("nothing", "%gradproof needs an expression"),
        ("await", "%%gradproof cannot run a cell with `await` outside a function"),
    ],
)
def test_misuse_is_one_line(outputs: dict[str, Any], cell: str, complaint: str) -> None:
    said = streams(outputs[cell], "stderr")
    assert said.startswith("UsageError: ")
    assert complaint in said
    assert len(said.splitlines()) == 1


def test_another_magic_may_follow(outputs: dict[str, Any]) -> None:
    assert "1 gradient undefined" in text(outputs["timed"])


def test_reports_show_themselves_with_the_names_of_cells(outputs: dict[str, Any]) -> None:
    assert "--> In[23]:1:20" in text(outputs["report"], "execute_result")
    assert "--> In[22]:4:13" in text(outputs["watched"], "execute_result")
    for cell in ("report", "watched"):
        assert "kink" in shown(outputs[cell], "execute_result").data["text/html"]


def test_ipython_on_a_terminal_shows_the_text(folder: Path) -> None:
    typed = f"{START}\n\ndef f(x): return abs(x)\n\n%gradproof gp.check(f, 0.0).worst\n\ngp.check(f, 0.0)\n"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "IPython",
            "--simple-prompt",
            "--no-banner",
            "--colors=NoColor",
            "--no-confirm-exit",
        ],
        input=typed,
        cwd=folder,
        env={**os.environ, "IPYTHONDIR": str(folder / "terminal")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert re.search(r"Out\[\d\]: <Verdict.UNDEFINED", done.stdout)
    assert re.search(r"--> In\[\d\]:1:18", done.stdout)
    assert "1 | def f(x): return abs(x)" in done.stdout
    assert "<div" not in done.stdout


@pytest.mark.tensorflow
def test_tensorflow_in_a_notebook(folder: Path) -> None:
    pytest.importorskip("tensorflow")
    loss = (
        "import tensorflow as tf\n%load_ext gradproof\n\n@tf.function\ndef loss(x):\n"
        "    logs = tf.where(x > 1e-6, tf.math.log(x), 0.0)\n    return tf.reduce_sum(logs)\n"
    )
    audit = (
        "%%gradproof\nx = tf.Variable([4.0, 0.0])\nwith tf.GradientTape() as tape:\n    y = loss(x)\n"
        "print(tape.gradient(y, x).numpy())"
    )
    _, cell = executed(folder, loss, audit)
    assert streams(cell, "stdout") == "[0.25  nan]\n"
    assert "error[masked-branch]" in text(cell)
    assert "--> In[1]:6:31" in text(cell)
    assert "6 |     logs = tf.where(x > 1e-6, tf.math.log(x), 0.0)" in text(cell)


def test_importing_gradproof_does_not_import_ipython() -> None:
    code = "import gradproof, sys; gradproof.check(lambda x: x * x, 3.0); print('IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

"""What `gradproof run` says about a script: report, exit status, options, misuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradproof.cli.main import main
from gradproof.render.schema import violations
from tests.cli.running import FAULTY, RIGHT, audited, gradproof

MISSING = """\
import gradproof as gp
x = 2.0
with gp.GradientTape() as tape:
    y = x * x
slope = tape.gradient(y, x)
print(slope.shape)
"""


def test_a_fault_is_named_with_its_line_and_the_exit_status_is_1(tmp_path: Path) -> None:
    found = audited(tmp_path, FAULTY)
    [gradient] = found["gradients"]
    assert found["status"] == 1
    assert found["stdout"] == "0.0\n"
    assert gradient["verdict"] == "inaccurate"
    assert (gradient["file"], gradient["line"]) == ("script.py", 7)
    assert gradient["observed"] == 0.0
    assert gradient["reference"] == 2e10
    assert gradient["target"] == {"name": "loss"}
    assert gradient["source"] == {"name": "x", "shape": [], "dtype": "float32"}
    assert found["script"].items() >= {"path": "script.py", "exception": None, "exit_status": 0}.items()
    assert set(found["frameworks"]) == {"numpy"}
    assert "d loss / d x" in found["stderr"]


def test_the_json_obeys_the_published_schema(tmp_path: Path) -> None:
    audited(tmp_path, FAULTY)
    document = json.loads((tmp_path / "report.json").read_text())
    assert list(violations(document)) == []
    assert json.loads(gradproof(tmp_path, "schema").stdout)["title"] == "Gradproof report, version 1"


@pytest.mark.parametrize(
    ("checks", "occurrences"),
    [("powers", [1, 2, 10]), ("all", list(range(1, 13))), ("first", [1]), ("3,5", [3, 5])],
)
def test_the_executions_that_are_checked_can_be_chosen(
    checks: str, occurrences: list[int], tmp_path: Path
) -> None:
    found = audited(tmp_path, RIGHT, "--checks", checks)
    assert [gradient["occurrence"] for gradient in found["gradients"]] == occurrences
    assert found["status"] == 0
    skipped = sum(row["count"] for row in found["unchecked"])
    assert skipped == 12 - len(occurrences)


def test_without_a_budget_nothing_is_judged_and_the_reason_is_given(tmp_path: Path) -> None:
    found = audited(tmp_path, FAULTY, "--budget", "0")
    [gradient] = found["gradients"]
    assert gradient["verdict"] == "unverified"
    assert "the budget of 0 s was used up" in gradient["reason"]
    assert gradient["observed"] == 0.0
    assert found["status"] == 0
    assert gradproof(tmp_path, "run", "--budget", "0", "--fail-on", "warning", "script.py").returncode == 1


def test_without_a_budget_a_gradient_that_is_nan_is_still_told(tmp_path: Path) -> None:
    script = RIGHT.replace("np.sum(np.exp(w))", "np.sum(w * np.array([np.nan, 1.0]))")
    found = audited(tmp_path, script, "--budget", "0", "--checks", "first")
    [gradient] = found["gradients"]
    assert gradient["verdict"] == "unverified"
    assert gradient["reason"].startswith(
        "it is NaN in 1 of 2 entries, and its cause was not looked for: the budget"
    )
    assert "it is NaN in 1 of 2 entries" in found["stderr"].splitlines()[-2]


def test_the_level_of_failure_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY + "raise SystemExit(7)\n")
    assert gradproof(tmp_path, "run", "script.py").returncode == 1
    assert gradproof(tmp_path, "run", "--fail-on", "never", "script.py").returncode == 7
    (tmp_path / "script.py").write_text(RIGHT + "raise SystemExit(7)\n")
    assert gradproof(tmp_path, "run", "script.py").returncode == 7


def test_the_report_can_be_one_line_or_complete(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(RIGHT)
    quiet = gradproof(tmp_path, "run", "--quiet", "script.py").stderr
    assert quiet == "gradproof: 3 gradients correct, proven; nothing to fix\n"
    assert "versions: gradproof " in gradproof(tmp_path, "run", "--verbose", "script.py").stderr
    (tmp_path / "script.py").write_text(FAULTY)
    assert gradproof(tmp_path, "run", "--concise", "script.py").stderr.startswith("script.py:6:")


def test_a_crash_over_a_missing_gradient_is_connected_with_it(tmp_path: Path) -> None:
    found = audited(tmp_path, MISSING)
    [gradient] = found["gradients"]
    assert gradient["verdict"] == "missing"
    assert gradient["line"] == 5
    assert found["script"]["crash"]["message"] == "`slope` holds no gradient, and line 6 uses it"
    assert found["script"]["crash"]["line"] == 6
    assert found["script"]["exception"].startswith("AttributeError: there is no gradient")
    assert found["status"] == 1


def test_a_crash_for_another_reason_is_left_alone(tmp_path: Path) -> None:
    found = audited(tmp_path, MISSING.replace("slope.shape", "1 / 0"))
    assert found["script"]["crash"] is None
    assert found["script"]["exception"] == "ZeroDivisionError: division by zero"


def test_a_jacobian_is_one_entry_with_the_verdict_of_its_worst_row(tmp_path: Path) -> None:
    script = RIGHT.replace("np.sum(np.exp(w))", "np.exp(w)").replace("tape.gradient", "tape.jacobian")
    found = audited(tmp_path, script, "--checks", "first")
    [gradient] = found["gradients"]
    assert gradient["verdict"] == "correct"
    assert len(gradient["observed"]) == len(gradient["reference"]) == 2
    assert gradient["reference"][0][1] == 0.0
    assert gradient["reference"][1][1] == pytest.approx(7.38905609893065, rel=1e-14)


def test_a_large_array_is_summarised_unless_it_is_wanted_in_full(tmp_path: Path) -> None:
    script = RIGHT.replace("np.array([1.0, 2.0])", "np.linspace(0.0, 1.0, 1001)")
    found = audited(tmp_path, script, "--checks", "first")
    assert found["gradients"][0]["observed"]["shape"] == [1001]
    found = audited(tmp_path, script, "--checks", "first", "--full")
    assert len(found["gradients"][0]["observed"]) == 1001


def test_a_script_that_changes_its_folder_still_gets_its_report(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    found = audited(tmp_path, "import os\nos.chdir('elsewhere')\n" + FAULTY)
    assert found["gradients"][0]["file"] == "script.py"


MISUSE = {
    ("run",): "needs a script",
    ("run", "scrip.py"): "there is no file `scrip.py`; did you mean `script.py`?",
    ("run", "nothing_like_it.py"): "there is no file `nothing_like_it.py`\n",
    ("run", "."): "is a folder without a `__main__.py`",
    ("run", "-m", "no.such.module"): "there is no module `no.such.module`",
    ("run", "--checks", "some", "script.py"): "--checks takes",
    ("run", "--checks", "0", "script.py"): "--checks takes",
    ("run", "--budget", "soon", "script.py"): "a number of seconds is needed",
    ("run", "--json", "no/folder/report.json", "script.py"): "there is no folder",
    ("run", "--json", ".", "script.py"): "it is a folder",
    ("run", "--fail-on", "sometimes", "script.py"): "invalid choice",
    ("run", "--frobnicate", "script.py"): "unrecognized arguments: --frobnicate",
    ("frobnicate",): "invalid choice: 'frobnicate'",
}


@pytest.mark.parametrize("words", MISUSE, ids=" ".join)
def test_misuse_is_refused_before_the_script_runs(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "script.py").write_text("print('ran')")
    monkeypatch.chdir(tmp_path)
    assert _status_of(words) == 2
    out, err = capfd.readouterr()
    assert MISUSE[words] in err
    assert "Traceback" not in err
    assert out == ""


def _status_of(words: tuple[str, ...]) -> object:
    try:
        return main(words)
    except SystemExit as ended:
        return ended.code

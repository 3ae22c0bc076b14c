"""`explain`, `doctor`, `schema` and the overview."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradproof import __version__
from gradproof.causes import causes, described, names
from gradproof.cli.main import COMMANDS, main
from gradproof.render.symptoms import SYMPTOMS
from tests.cli.running import gradproof

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
    assert "there is no cause named `Cancelation`; did you mean `cancellation`?" in said


def test_the_doctor_names_what_is_installed_without_importing_it(capsys: Capture) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"gradproof     {__version__}" in said
    for name in ("python-flint", "NumPy", "TensorFlow", "JAX", "PyTorch"):
        assert name in said


def test_every_symptom_has_a_page_and_every_cause_belongs_to_one(capsys: Capture) -> None:
    named = {name for symptom in SYMPTOMS for name in symptom.causes}
    assert named == {cause.name for cause in causes()}
    for symptom in SYMPTOMS:
        assert main(["explain", symptom.name]) == 0
        page = capsys.readouterr().out
        assert page.startswith(f"{symptom.name}: {symptom.title}\n")
        assert all(f"    {name} " in page for name in symptom.causes)
    assert main(["explain"]) == 0
    assert all(f"{symptom.name} " in capsys.readouterr().out for symptom in SYMPTOMS[:1])
    assert main(["explain", "nans"]) == 2
    assert "did you mean `nan`?" in capsys.readouterr().err


def test_what_is_explained_is_what_the_cause_says() -> None:
    assert [described(name).doc for name in names()] == [cause.doc for cause in causes()]


def test_an_explanation_loads_nothing_that_takes_time() -> None:
    code = (
        "import sys, gradproof.cli.main as m\nm.main(['explain', 'kink'])\n"
        "print({'numpy', 'scipy', 'rich', 'flint'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("\nset()\n")


CALLS_OF_A_FIFTH_OF_A_SECOND = 45_000  # of functions, on a machine with nothing else to do


def test_an_explanation_takes_a_fifth_of_a_second_of_work() -> None:
    """Counted in calls of functions: how fast and how busy a machine is decides no test."""
    code = (
        "import cProfile, pstats, sys\nprofile = cProfile.Profile()\n"
        "profile.runcall(lambda: __import__('gradproof.cli.main').cli.main.main(['explain', 'kink']))\n"
        "print(pstats.Stats(profile).total_calls)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < CALLS_OF_A_FIFTH_OF_A_SECOND


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["chekc"], "check"),
        (["run", "--bugdet", "3", "a.py"], "--budget"),
        (["run", "--fail-on", "warnings", "a.py"], "warning"),
        (["check", "a.py:f", "--at", "1", "--dtype", "float46"], "float64"),
        (["tour", "forward"], None),
        (["explain", "kinks"], "kink"),
    ],
)
def test_a_word_that_is_not_known_is_answered_with_the_nearest(
    words: list[str], meant: str | None, capsys: Capture
) -> None:
    try:
        status = main(words)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    said = capsys.readouterr().err
    assert meant is None or f"did you mean `{meant}`?" in said


def test_the_doctor_tells_of_a_report_without_the_users_data(tmp_path: Path) -> None:
    script = "import numpy as np, gradproof as gp\nsecret_name = gp.Variable(np.array([0.1234567, 1.0]))\n"
    script += "with gp.GradientTape() as tape:\n    hidden_loss = np.sum(np.abs(secret_name - 1.0))\n"
    script += "tape.gradient(hidden_loss, secret_name)\n"
    (tmp_path / "private_file.py").write_text(script)
    gradproof(tmp_path, "run", "--json", "report.json", "private_file.py")
    done = gradproof(tmp_path, "doctor", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    for told in (
        "gradient 1: numpy, float64 (2,)",
        "verdict undefined",
        "warning[kink]",
        "at file 1:5",
        " = select(%",
    ):
        assert told in done.stdout, told
    for secret in ("secret_name", "hidden_loss", "private_file", "0.1234567", "np.abs"):
        assert secret not in done.stdout, secret
    whole = gradproof(tmp_path, "doctor", "--report", "report.json", "--with-data").stdout
    assert "0.1234567" in whole
    assert gradproof(tmp_path, "doctor", "--report", "none.json").returncode == 2


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

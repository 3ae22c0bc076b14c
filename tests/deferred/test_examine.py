"""What is judged later is judged as in place, by whoever does it, and whatever happens meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradproof.audit.budget import Budget
from gradproof.cli.main import INTERRUPTED, main
from gradproof.deferred import examine
from gradproof.deferred.examine import judge_all, open_tasks, opened, results
from gradproof.deferred.folder import ProcessFolder, read, write
from gradproof.deferred.following import follow
from gradproof.deferred.joined import joined
from gradproof.deferred.model import Begun, KeptCall
from gradproof.render.from_json import from_json
from tests.cli.running import FAULTY, RIGHT, gradproof
from tests.deferred.recording import comparable

ROOT = Path(__file__).parents[2]
SPOILT = """\
import numpy as np
import gradproof as gp
w = np.array([800.0, 1.0])
for _ in range(2):
    x = gp.Variable(w, name="x")
    with np.errstate(all="ignore"), gp.GradientTape() as tape:
        loss = np.log(np.sum(np.exp(x)))
    w = w - 0.1 * np.asarray(tape.gradient(loss, x))
"""
CRASHING = """\
import numpy as np
import gradproof as gp
x = np.array([1.0, 2.0])
with gp.GradientTape() as tape:
    loss = np.sum(np.exp(x))
g = tape.gradient(loss, x)
print(x - 0.1 * g)
"""
TORCH = """\
import torch
torch.manual_seed(0)
x = torch.tensor([0.0, 4.0], requires_grad=True)
torch.where(x > 0, torch.sqrt(x), torch.zeros(2)).sum().backward()
z = torch.tensor([-14.0, 14.0], requires_grad=True)
(torch.log(torch.exp(z) + 1.0) - z).sum().backward()
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    ((model(torch.randn(5, 3)) - 1.0) ** 2).mean().backward()
    optimizer.step()
"""
DECLARED = """\
import numpy as np
import gradproof as gp

@gp.intended
@gp.custom_gradient
def through(x):
    return np.round(x), lambda dy: dy

x = gp.Variable(np.array([0.3, 1.7]), name="x")
with gp.GradientTape() as tape:
    loss = np.sum(through(x) ** 2)
tape.gradient(loss, x)
"""


def _deferred(folder: Path, script: str) -> Path:
    """The folder that a script's calls are kept in."""
    (folder / "script.py").write_text(script)
    done = gradproof(folder, "run", "--defer", "kept", "script.py")
    assert "gradproof examine kept" in done.stderr
    return folder / "kept"


@pytest.mark.parametrize("script", [FAULTY, CRASHING])
def test_the_report_is_that_of_the_run(script: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(script)
    now = gradproof(tmp_path, "run", "--json", "now.json", "script.py")
    kept = gradproof(tmp_path, "run", "--defer", "kept", "script.py")
    later = gradproof(tmp_path, "examine", "kept", "--json", "later.json")
    assert kept.stdout == now.stdout
    assert later.returncode == now.returncode
    if "checking took" not in now.stderr:  # on a machine that is slow
        assert later.stdout.strip() in now.stderr
    first, second = (
        comparable(from_json((tmp_path / name).read_bytes())) for name in ("now.json", "later.json")
    )
    assert first == second
    assert first["gradients"]


def _scripts() -> list[Path]:
    """Of every framework some, with faults of many kinds."""
    cases = ROOT / "tests" / "causes" / "cases"
    frameworks = ROOT / "tests" / "frontends"
    found = sorted(cases.glob("*/guilty_*_np.py"))[::7]
    for module, scripts in (
        ("tensorflow", sorted(cases.glob("*/guilty_*_tf.py"))[::12]),
        ("jax", sorted((frameworks / "jax" / "scripts").glob("*.py"))[::8]),
    ):
        assert len(scripts) > 2, module
        found += scripts[:4]
    return found


@pytest.mark.tensorflow
@pytest.mark.torch
def test_a_cluster_says_of_every_framework_what_the_run_says(tmp_path: Path) -> None:
    for module in ("tensorflow", "torch", "jax", "distributed"):
        pytest.importorskip(module)
    scripts = _scripts()
    for k, text in enumerate((SPOILT, DECLARED, RIGHT, CRASHING, TORCH)):
        (tmp_path / f"script{k}.py").write_text(text)
        scripts.append(tmp_path / f"script{k}.py")
    folder = str(tmp_path / "kept")
    _python("tests.deferred.recording", folder, *map(str, scripts))
    found = json.loads(_python("tests.deferred.comparing", folder).splitlines()[-1])
    assert found["differing"] == {}
    assert found["scripts"] == len(scripts)
    assert found["judged"] >= len(scripts)
    assert found["not_kept"] == 0


def _python(module: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *words], capture_output=True, text=True, timeout=600, cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_worker_that_is_lost_costs_nothing(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    kept = _deferred(tmp_path, RIGHT)
    assert _python("tests.deferred.losing", str(kept)).endswith("[0, 1, 2, 3]\n")
    work = opened(str(kept))
    assert [step.n_done for step in judge_all(work)] == [3]
    assert [gradient.occurrence for gradient in joined(work).gradients] == [1, 2, 10]
    # A process that gives memory back at once takes up to twice as long.
    assert int((kept / "main" / "lost").read_text()) < 1000


def test_several_processes_make_the_report_of_one(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    _deferred(tmp_path, FAULTY)
    several = gradproof(tmp_path, "examine", "kept", "--jobs", "2")
    again = gradproof(tmp_path, "examine", "kept")
    assert several.stdout == again.stdout
    assert (several.returncode, again.returncode) == (1, 1)
    assert "script.py:7: inaccurate: d loss / d x" in several.stderr
    assert "inaccurate" not in again.stderr  # what was judged before is not told as news


def test_an_examination_that_was_interrupted_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = _deferred(tmp_path, RIGHT)
    asked: list[str] = []

    def interrupted(source: str, *rest: Any) -> bytes:
        asked.append(os.path.basename(source))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return judge(source, *rest)

    judge = examine.judged
    monkeypatch.setattr(examine, "judged", interrupted)
    assert main(["examine", str(kept)]) == INTERRUPTED
    assert "the same command goes on from there" in capsys.readouterr().err
    assert main(["examine", str(kept)]) == 0
    assert asked == [f"{k:08}.gradproof" for k in (1, 2, 2, 3)]
    assert main(["examine", str(kept)]) == 0
    assert len(asked) == 4
    assert "3 gradients" in capsys.readouterr().out


LATE = """\
import numpy as np
import gradproof as gp
for k in range(2):
    x = gp.Variable(np.linspace(0.0, 1.0, 200_000) + k, name="x")
    with gp.GradientTape() as tape:
        loss = np.sum(np.exp(np.sin(x)))
    tape.gradient(loss, x)
print("over")
"""


def test_processes_beside_the_program_make_the_report_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(CRASHING)
    now = gradproof(tmp_path, "run", "--json", "now.json", "script.py")
    beside = gradproof(tmp_path, "run", "--jobs", "1", "--json", "beside.json", "script.py")
    assert (beside.returncode, beside.stdout) == (now.returncode, now.stdout)
    first, second = (
        comparable(from_json((tmp_path / name).read_bytes())) for name in ("now.json", "beside.json")
    )
    assert first == second
    assert first["gradients"]


def test_processes_beside_the_program_keep_to_the_budget(tmp_path: Path) -> None:
    kept = _deferred(tmp_path, LATE)
    follow(str(kept), 1, Budget(0.001))
    work = opened(str(kept))
    assert [(step.n_done, step.judged) for step in judge_all(work)] == [(2, None)]
    first, second = joined(work).gradients
    assert {str(first.verdict), str(second.verdict)} == {"unverified"}
    assert "longer than the 0.001 s that were left of the budget (--budget)" in (first.reason or "")
    assert "the budget of 0.001 s was used up" in (second.reason or "")


def test_a_scheduler_that_does_not_answer_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("gradproof.cluster.workers.REACHED_IN", 1)
    kept = _deferred(tmp_path, FAULTY)
    assert main(["examine", str(kept), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_an_answer_of_another_version_costs_its_capture_and_is_said(tmp_path: Path) -> None:
    work = opened(str(_deferred(tmp_path, RIGHT)))

    def done(function: Any, tasks: Any) -> Iterator[tuple[str, Any]]:
        for k, (name, arguments) in enumerate(tasks.items()):
            block = bytearray(function(*arguments()))
            block[7] += k == 1  # another version of the format
            yield name, bytes(block)

    for are_sent in (True, False):
        found = list(results(done, open_tasks(work), are_sent))
        assert ["another version of the format" in (one.reports[0].reason or "") for one in found] == [
            False,
            True,
            False,
        ]
        work = opened(str(tmp_path / "kept"))
        for path in (tmp_path / "kept" / "main" / "results").iterdir():
            path.unlink()


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    kept = _deferred(tmp_path, RIGHT)
    path = kept / "main" / "00000002.gradproof"
    path.write_bytes(path.read_bytes()[:-100])
    done = gradproof(tmp_path, "examine", "kept", "--json", "report.json")
    assert done.returncode == 2
    assert "00000002.gradproof` was not judged: cut short" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert [row["occurrence"] for row in report["gradients"]] == [1, 10]
    assert any("cut short" in note for note in report["notes"])


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ("ended.gradproof", "how the program ended is not known"),
        ("texts/00000000.gradproof", "lines of one file are not shown"),
    ],
)
def test_damage_beside_the_calls_costs_what_it_told_and_no_judgement(
    damaged: str, said: str, tmp_path: Path
) -> None:
    kept = _deferred(tmp_path, FAULTY)
    path = kept / "main" / damaged
    path.write_bytes(path.read_bytes()[:-10])
    begun = kept / "main" / "begun.gradproof"
    write(replace(read(str(begun), Begun), version="0.0.9"), str(begun))
    done = gradproof(tmp_path, "examine", "kept", "--json", "report.json", "--fail-on", "never")
    assert done.returncode == 2
    assert said in done.stderr
    assert "cut short" in done.stderr
    assert "(by gradproof 0.0.9; this is" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert [row["verdict"] for row in report["gradients"]] != []
    assert any(said in note for note in report["notes"])


def test_a_process_whose_beginning_is_damaged_costs_itself_only(tmp_path: Path) -> None:
    kept = _deferred(tmp_path, FAULTY)
    other = kept / "rank-1"
    shutil.copytree(kept / "main", other)
    path = other / "begun.gradproof"
    path.write_bytes(path.read_bytes()[:-10])
    done = gradproof(tmp_path, "examine", "kept", "--fail-on", "never")
    assert done.returncode == 2
    assert f"nothing of `{os.path.join('kept', 'rank-1')}` was judged" in done.stderr
    assert "script.py" in done.stdout
    shutil.rmtree(kept / "main")
    alone = gradproof(tmp_path, "examine", "kept")
    assert alone.returncode == 2
    assert "begun.gradproof` cannot be read: cut short" in alone.stderr


def test_a_forged_place_brings_no_file_of_this_machine_into_the_report(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("nobody is to know\n")
    kept = _deferred(tmp_path, FAULTY)
    path = kept / "main" / "00000001.gradproof"
    call = read(str(path), KeptCall)
    moved = tuple(replace(one, call=one.call.in_file(str(secret))) for one in call.captures)
    write(replace(call, captures=moved), str(path))
    done = gradproof(tmp_path, "examine", "kept", "--json", "report.json", "--html", "report.html")
    assert done.returncode == 1
    for name in ("report.json", "report.html"):
        text = (tmp_path / name).read_text()
        assert "secret.txt" in text
        assert "nobody is to know" not in text


def test_a_program_that_did_not_end_is_judged_as_far_as_it_came(tmp_path: Path) -> None:
    kept = _deferred(tmp_path, FAULTY)
    (kept / "main" / "ended.gradproof").unlink()
    done = gradproof(tmp_path, "examine", "kept")
    assert done.returncode == 1
    assert "the program has not ended" in done.stdout


def test_a_changed_source_does_not_change_the_report(tmp_path: Path) -> None:
    """Nor the change of lines in it, which whoever judges reads them for."""
    kept = _deferred(tmp_path, SPOILT)
    before = gradproof(tmp_path, "examine", "kept").stdout
    assert "     + loss = " in before
    for path in (kept / "main" / "results").iterdir():
        path.unlink()
    (tmp_path / "script.py").write_text("print('something else')\n" * 9)
    assert gradproof(tmp_path, "examine", "kept").stdout == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["examine", "nowhere"], "cannot be read"),
        (["examine", "."], "holds nothing that `gradproof run --defer` has written"),
        (["examine", "kept", "--jobs", "0"], "--jobs is a whole number"),
        (["run", "--defer", "kept", "script.py"], "holds what an earlier run has written"),
        (
            ["run", "--defer", "other", "--json", "a.json", "script.py"],
            "--json is for `gradproof examine other`",
        ),
    ],
)
def test_misuse_is_said(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(FAULTY)
    ProcessFolder(str(tmp_path / "kept" / "main")).begin(examine.Begun("0", str(tmp_path)))
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_call_that_only_the_process_can_judge_is_judged_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an op without an exact meaning can be computed by an object of the running program only."""
    import numpy as np

    import gradproof
    from gradproof.deferred import keeping
    from gradproof.errors import NotData

    def refuse(value: Any, *rest: Any) -> Any:
        if value.__class__.__name__ == "KeptCall" and value.captures:
            raise NotData("an object of the program")
        return gather(value, *rest)

    gather = keeping.gather
    monkeypatch.setattr(keeping, "gather", refuse)
    with gradproof.watch(defer=tmp_path / "kept") as report:
        x = gradproof.Variable(np.array([1.0, 2.0]), name="x")
        with gradproof.GradientTape() as tape:
            loss = np.sum(np.exp(x))
        tape.gradient(loss, x)
    assert report.gradients == ()
    work = opened(str(tmp_path / "kept"))
    assert [step.n_all for step in judge_all(work)] == [0]
    (row,) = comparable(joined(work))["gradients"]
    assert (row["verdict"], row["source"]["name"]) == ("correct", "x")


def test_a_full_disk_costs_what_does_not_fit_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    import gradproof
    from gradproof.deferred import keeping
    from gradproof.errors import NotWritten

    def full(gathered: Any, path: str) -> int:
        if path.endswith("00000002.gradproof"):
            raise NotWritten("`kept/00000002.gradproof` could not be written: No space left on device")
        return write(gathered, path)

    write = keeping.write_gathered
    monkeypatch.setattr(keeping, "write_gathered", full)
    with gradproof.watch(defer=tmp_path / "kept"):
        for _ in range(2):
            x = gradproof.Variable(np.array([1.0, 2.0]), name="x")
            with gradproof.GradientTape() as tape:
                loss = np.sum(np.exp(x))
            tape.gradient(loss, x)
    work = opened(str(tmp_path / "kept"))
    assert [step.n_all for step in judge_all(work)] == [1, 1]
    assert any("1 gradient call could not be kept: `kept/0" in note for note in joined(work).notes)

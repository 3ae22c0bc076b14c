"""A sweep goes on where it was, and an op that takes its process with it costs nothing but itself."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradproof.cli import sweep as cli
from gradproof.cluster.workers import ending_worker_after, workers
from gradproof.errors import InvalidInput
from gradproof.sweep import one_op, run
from gradproof.sweep.plan import Plan
from gradproof.sweep.results import all_results
from tests.sweep import losing, planted

PLAN = Plan(dtypes=("float32",), points=("ordinary",))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ops that were really swept; the planted library stands in for NumPy's."""
    names: list[str] = []

    def swept(framework: str, name: str, plan: Plan) -> dict[str, Any]:
        names.append(name)
        if name == "cube":
            raise ValueError("broken on purpose")
        library = planted.library()
        return run_op(library, next(op for op in library.ops() if op.name == name), plan)

    from gradproof.sweep.one_op import swept as run_op

    monkeypatch.setattr(run, "library_of", lambda framework: planted.library())
    monkeypatch.setattr(run, "WITH_COVERAGE", ("numpy",))
    monkeypatch.setattr(run, "sweep_op", swept)
    return names


def test_what_is_stored_is_not_swept_again(asked: list[str], tmp_path: Path) -> None:
    first = list(run.sweep("numpy", str(tmp_path), PLAN, "sine,half"))
    assert [step.was_stored for step in first] == [False, False]
    second = list(run.sweep("numpy", str(tmp_path), PLAN, "sine,half,sign"))
    assert sorted(asked) == ["half", "sign", "sine"]
    assert sorted(step.was_stored for step in second) == [False, True, True]
    assert [step.n_done for step in second] == [1, 2, 3]


def test_what_is_stored_can_be_shown_without_a_sweep(asked: list[str], tmp_path: Path) -> None:
    list(run.sweep("numpy", str(tmp_path), PLAN, "sine"))
    shown = list(run.sweep("numpy", str(tmp_path), PLAN, "sine,half", only_stored=True))
    assert [step.result["op"] for step in shown] == ["sine"]
    assert asked == ["sine"]
    whatever_plan = list(run.sweep("numpy", str(tmp_path), Plan(), "sine", only_stored=True))
    assert [step.result for step in whatever_plan] == [step.result for step in shown]


def test_another_plan_or_a_damaged_file_is_swept_again(asked: list[str], tmp_path: Path) -> None:
    list(run.sweep("numpy", str(tmp_path), PLAN, "sine"))
    list(run.sweep("numpy", str(tmp_path), Plan(dtypes=("float64",), points=("ordinary",)), "sine"))
    (tmp_path / "numpy" / "sine.json").write_text('{"format": 1, "op"')
    list(run.sweep("numpy", str(tmp_path), PLAN, "sine"))
    assert asked == ["sine", "sine", "sine"]


def test_a_page_of_a_directory_with_a_damaged_file_names_it(asked: list[str], tmp_path: Path) -> None:
    list(run.sweep("numpy", str(tmp_path), PLAN, "sine"))
    (tmp_path / "numpy" / "sine.json").write_text('{"format": 1, "op"')
    with pytest.raises(InvalidInput, match=r"sine\.json` is no result of a sweep"):
        list(all_results(str(tmp_path)))


def test_an_op_that_fails_is_told_and_the_others_go_on(asked: list[str], tmp_path: Path) -> None:
    list(run.sweep("numpy", str(tmp_path), PLAN, "cube,sine"))
    stored = {result["op"]: result for result in all_results(str(tmp_path))}
    assert stored["cube"]["reasons"] == {"ValueError: broken on purpose": 1}
    assert stored["sine"]["verdicts"] == {"correct": 1}


def test_what_was_given_up_for_lack_of_time_is_said(
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without a word, "no faults" could not be told from "not looked at"."""
    parser = argparse.ArgumentParser()
    monkeypatch.setattr(cli, "WITH_COVERAGE", ("numpy",))
    cli.configure(parser)
    given = ["numpy", "--ops", "half", "--dtypes", "float32", "--points", "ordinary", "--dir"]
    assert cli.execute(parser.parse_args([*given, str(tmp_path / "whole")])) == 1
    assert "lack of time" not in capsys.readouterr().out
    monkeypatch.setattr(one_op, "SECONDS", 0.0)
    assert cli.execute(parser.parse_args([*given, str(tmp_path / "hurried")])) == 0
    assert "1 call given up for lack of time" in capsys.readouterr().out


LOSING = """
import os
import subprocess
import sys
from gradproof.cluster.workers import Failed, workers
from tests.sweep.losing import double

if __name__ == "__main__":
    with workers(jobs=2) as done:
        found = dict(done(double, {str(x): (x,) for x in range(6)}))
    lost = found.pop("3")
    assert isinstance(lost, Failed) and "was lost; a process may use" in lost.reason, lost
    assert found == {str(x): 2 * x for x in (0, 1, 2, 4, 5)}, found
    print("held")
"""


def test_a_lost_process_costs_its_task_and_no_other(tmp_path: Path) -> None:
    """In a program of its own, as users have it: the workers import it anew."""
    script = tmp_path / "losing_workers.py"
    script.write_text(LOSING, encoding="utf-8")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert done.stdout == "held\n", done.stderr


def test_a_call_that_never_returns_ends_its_worker() -> None:
    pytest.importorskip("distributed")
    worker = multiprocessing.get_context("spawn").Process(target=losing.endless)
    worker.start()
    worker.join(200)
    assert worker.exitcode == 1


def test_a_process_that_is_no_worker_is_left_alone() -> None:
    with ending_worker_after(0.0):
        assert sum(range(10**6)) > 0


def test_a_scheduler_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradproof.cluster.workers.REACHED_IN", 1)
    with (
        pytest.raises(InvalidInput, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        workers(scheduler="tcp://127.0.0.1:9"),
    ):
        pass

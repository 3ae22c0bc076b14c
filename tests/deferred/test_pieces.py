"""What is judged in pieces, one for each worker, says what it says as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradproof.audit import pieces
from gradproof.audit.pieces import CallPiece
from gradproof.cluster.workers import Failed, workers
from gradproof.deferred import examine
from gradproof.deferred.examine import Task, judge_all, open_tasks, opened, results
from gradproof.deferred.joined import joined
from tests.cli.running import gradproof
from tests.deferred.recording import comparable

# The first is right everywhere, of the second some rows are not.
JACOBIANS = """\
import numpy as np
import gradproof as gp

def asked(function, x):
    x = gp.Variable(np.array(x), name="x")
    with np.errstate(all="ignore"), gp.GradientTape() as tape:
        y = function(x)
    tape.jacobian(y, x)

asked(lambda x: np.exp(x) * np.sum(x), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
asked(lambda x: np.where(x > 0.3, np.log(x), 0.0), [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.0])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("jacobians")
    (made / "script.py").write_text(JACOBIANS)
    gradproof(made, "run", "--defer", "whole", "script.py")
    gradproof(made, "run", "--defer", "pieces", "script.py")
    return made


# Four sources of one call; a rule by hand may be wrong.
SOURCES = """\
import numpy as np
import gradproof as gp

@gp.custom_gradient
def scaled(x):
    return 2.0 * x, lambda dy: {slope} * dy

names = [gp.Variable(np.linspace(0.1, 0.9, 30_000) + k, name=f"x{{k}}") for k in range(4)]
with gp.GradientTape() as tape:
    a, b, c, d = names
    loss = np.sum(np.exp(a) * b + np.sin(c) * scaled(d))
tape.gradient(loss, names)
"""


def _said(folder: Path, n_pieces: int) -> tuple[dict[str, Any], list[Task]]:
    work = opened(str(folder))
    tasks = open_tasks(work, n_pieces)
    with workers() as done:
        list(results(done, tasks))
    report = comparable(joined(work))
    del report["script"]
    return report, list(tasks.values())


def test_pieces_make_the_report_of_the_whole(folder: Path) -> None:
    whole, tasks = _said(folder / "whole", 1)
    pieces, split = _said(folder / "pieces", 2)
    assert [task.piece for task in tasks] == [None, None]
    assert [task.piece for task in split] == [CallPiece((0, 2)), CallPiece((1, 2))] * 2
    assert json.dumps(pieces) == json.dumps(whole)
    assert [row["verdict"] for row in whole["gradients"]] == ["correct", "nonfinite"]
    assert list(judge_all(opened(str(folder / "pieces")), jobs=2))[-1].n_done == 2


@pytest.mark.parametrize(("slope", "verdict", "rounds"), [(2.0, "correct", 1), (3.0, "wrong", 2)])
def test_sources_in_pieces_make_the_report_of_the_call(
    slope: float, verdict: str, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "script.py").write_text(SOURCES.format(slope=slope))
    for name in ("whole", "pieces"):
        gradproof(tmp_path, "run", "--defer", name, "script.py")
    whole, tasks = _said(tmp_path / "whole", 1)
    asked: list[CallPiece | None] = []

    def noted(*arguments: Any) -> bytes:
        asked.append(arguments[6])
        return judge(*arguments)

    judge = examine.judged
    monkeypatch.setattr(examine, "judged", noted)
    split, some = _said(tmp_path / "pieces", 2)
    assert [task.piece for task in tasks] == [None]
    assert [task.piece for task in some] == [CallPiece((0, 2)), CallPiece((1, 2))]
    assert [piece and piece.is_quick for piece in asked] == [True, True, False, False][: 2 * rounds]
    assert json.dumps(split) == json.dumps(whole)
    assert [row["verdict"] for row in whole["gradients"]] == ["correct"] * 3 + [verdict]


def test_sources_are_taken_apart_for_idle_workers_only(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SOURCES.format(slope=2.0) * 2)
    gradproof(tmp_path, "run", "--defer", "kept", "script.py")
    work = opened(str(tmp_path / "kept"))
    assert [task.piece for task in open_tasks(work, 2).values()] == [None, None]
    assert len(open_tasks(work, 3)) == 6
    small = SOURCES.format(slope=2.0).replace("30_000", "300")
    (tmp_path / "script.py").write_text(small)
    gradproof(tmp_path, "run", "--defer", "small", "script.py")
    assert [task.piece for task in open_tasks(opened(str(tmp_path / "small")), 3).values()] == [None]


def test_few_rows_are_not_taken_apart(folder: Path) -> None:
    work = opened(str(folder / "whole"))
    for path in (folder / "whole" / "main" / "results").glob("*"):
        path.unlink()
    split = open_tasks(work, 8).values()
    assert {task.piece and task.piece.share[1] for task in split} == {8 // pieces.LEAST_ROWS}


def test_a_piece_that_is_lost_is_said_of_the_whole(folder: Path) -> None:
    work = opened(str(folder / "whole"))
    for path in (folder / "whole" / "main" / "results").glob("*"):
        path.unlink()
    for one in work:
        for call in one.calls:
            call.done.clear()

    def losing(function: Any, tasks: Any) -> Any:
        for name, arguments in tasks.items():
            yield name, Failed("lost on purpose") if name.endswith("-1") else function(*arguments())

    found = list(results(losing, open_tasks(work, 2)))
    assert len(found) == 2
    assert all("lost on purpose" in (row.reason or "") for one in found for row in one.reports)

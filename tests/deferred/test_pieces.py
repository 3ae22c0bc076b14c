"""A Jacobian in pieces, one for each worker, says what it says as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradproof.cluster.workers import Failed, workers
from gradproof.deferred import examine
from gradproof.deferred.examine import Task, judge_all, open_tasks, opened, results
from gradproof.deferred.joined import joined
from tests.cli.running import gradproof
from tests.deferred.recording import comparable

# The first is right everywhere, so that all its rows are one proof; of the second each row is looked at alone.
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
    assert [task.piece for task in split] == [(0, 2), (1, 2)] * 2
    assert json.dumps(pieces) == json.dumps(whole)
    assert [row["verdict"] for row in whole["gradients"]] == ["correct", "nonfinite"]
    assert list(judge_all(opened(str(folder / "pieces")), jobs=2))[-1].n_done == 2


def test_few_rows_are_not_taken_apart(folder: Path) -> None:
    work = opened(str(folder / "whole"))
    for path in (folder / "whole" / "main" / "results").glob("*"):
        path.unlink()
    assert {task.piece for task in open_tasks(work, 1 + 8 // examine.LEAST_ROWS).values()} == {None}


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

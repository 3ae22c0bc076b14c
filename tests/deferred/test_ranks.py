"""The processes of one program make one report, and what they do not agree on is named."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from gradproof.deferred.folder import parts_of
from gradproof.deferred.keeping import keeper_in
from gradproof.deferred.ranks import joined_ranks
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.disagreement import (
    MOST_NAMED,
    between_ranks,
    between_replicas,
    without_fixes_of_one_replica,
)
from gradproof.diagnosis.report import GradientReport, Report, Script
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.options import Options
from tests.cli.running import gradproof, interruptible

RIGHT = GradientReport(Span("train.py", 7), "torch", "loss", "w", (2,), "float32", Verdict.CORRECT)
WRONG = replace(RIGHT, verdict=Verdict.WRONG, reason="planted")
DDP = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(3, 1))
torch.manual_seed(1 + dist.get_rank())
x = torch.randn(4, 3)
loss = ((model(x) - 1.0) ** 2).mean()
loss.backward()
if dist.get_rank() == 1:
    z = torch.tensor([0.0, 4.0], requires_grad=True)
    torch.where(z > 1e-6, torch.log(z), torch.zeros(2)).sum().backward()
dist.destroy_process_group()
"""


def test_ranks_that_agree_are_one_report() -> None:
    reports = [(f"rank-{k}", Report((RIGHT,), notes=("said by all",))) for k in range(2)]
    joined = joined_ranks(reports)
    assert len(joined.gradients) == 2
    assert joined.notes == ("said by all",)


def test_a_verdict_that_differs_is_named_with_its_ranks() -> None:
    reports = [("rank-0", Report((RIGHT,))), ("rank-1", Report((WRONG,), notes=("something",)))]
    assert joined_ranks(reports).notes == (
        "rank-1: something",
        "the ranks disagree on d loss / d w at train.py:7: correct on rank-0 and wrong on rank-1",
    )


FIX = Fix("halve it", patch="-a\n+b", checked="the rule was run")
EQUAL = Fix("write it so", patch="-a\n+c", checked="the ops were run", is_equal=True)
FAULT = Diagnostic("custom-gradient", "error", "proven", "twice too large", fix=FIX)
AT_FAULT = replace(WRONG, diagnostics=(FAULT,))
NOT_OFFERED = (
    "no fix is offered: {} may run these lines too, where this gradient is correct as it is, and what would fix it "
    "here (halve it) was not tried there"
)


def _joined(*gradients: GradientReport) -> Diagnostic:
    reports = [(f"rank-{k}", Report((one,))) for k, one in enumerate(gradients)]
    return joined_ranks(reports).gradients[-1].diagnostics[0]


def test_a_change_for_one_rank_is_not_offered_where_another_is_right() -> None:
    """What multiplies a rule that is right in another rank makes it wrong there."""
    assert _joined(RIGHT, AT_FAULT) == replace(FAULT, fix=None, notes=(NOT_OFFERED.format("rank-0"),))
    assert _joined(AT_FAULT, AT_FAULT) == FAULT
    assert _joined(replace(RIGHT, occurrence=2), AT_FAULT) == FAULT


def test_another_way_to_write_the_same_is_offered_for_one_rank_too() -> None:
    with_other = replace(FAULT, fix=replace(FIX, others=(replace(FIX, patch="-a\n+d"), EQUAL)))
    assert _joined(RIGHT, replace(WRONG, diagnostics=(with_other,))).fix == EQUAL
    assert _joined(RIGHT, replace(WRONG, diagnostics=(replace(FAULT, fix=EQUAL),))).fix == EQUAL


def test_nor_is_one_for_one_replica_of_a_process() -> None:
    first, second = without_fixes_of_one_replica([RIGHT, replace(AT_FAULT, occurrence=2, replica=1)])
    assert first == RIGHT
    assert second.diagnostics == (replace(FAULT, fix=None, notes=(NOT_OFFERED.format("replica 0"),)),)
    executions = [RIGHT, replace(AT_FAULT, occurrence=2)]
    assert list(without_fixes_of_one_replica(executions)) == executions


def test_a_gradient_that_a_rank_lacks_is_named() -> None:
    second = replace(RIGHT, occurrence=2)
    (said,) = between_ranks([("rank-0", Report((RIGHT, second))), ("rank-1", Report((RIGHT,)))])
    assert said.endswith("at train.py:7 (2nd run): correct on rank-0 and not computed on rank-1")


def test_of_many_disagreements_some_are_told() -> None:
    many = [replace(RIGHT, source=f"w{k}") for k in range(MOST_NAMED + 3)]
    first, second = Report(tuple(many)), Report(tuple(replace(one, verdict=Verdict.WRONG) for one in many))
    said = list(between_ranks([("rank-0", first), ("rank-1", second)]))
    assert len(said) == MOST_NAMED + 1
    assert said[-1] == "the ranks disagree on 3 more gradients"


def test_replicas_of_one_process_are_held_against_each_other_step_by_step() -> None:
    runs = [replace(RIGHT, occurrence=1 + k, replica=k % 2) for k in range(5)]
    assert between_replicas(runs) == []
    runs[3] = replace(WRONG, occurrence=4, replica=1)
    (said,) = between_replicas(runs)
    assert said == (
        "the replicas disagree on d loss / d w at train.py:7 (2nd run): correct on replica 0 and wrong on replica 1"
    )


def test_executions_of_one_process_are_no_replicas() -> None:
    assert between_replicas([RIGHT, replace(WRONG, occurrence=2), replace(RIGHT, occurrence=3)]) == []


def test_the_exit_status_is_that_of_a_rank_that_failed() -> None:
    reports = [(f"rank-{k}", Report((RIGHT,), script=Script("train.py", exit_status=k))) for k in range(2)]
    assert joined_ranks(reports).exit_status() == 1


def test_rank_ten_comes_after_rank_nine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in (10, 9, 0):
        monkeypatch.setenv("RANK", str(rank))
        keeper_in(str(tmp_path), Options())
    assert [part.name for part in parts_of(str(tmp_path))] == ["rank-0", "rank-9", "rank-10"]


@pytest.mark.torch
def test_two_processes_of_a_distributed_training_make_one_report(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch is built without distributed training")
    (tmp_path / "train.py").write_text(DDP)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with _rank(tmp_path, 0, port) as first, _rank(tmp_path, 1, port) as second:
        said = [rank.communicate(timeout=300)[1] for rank in (first, second)]
        assert [first.returncode, second.returncode] == [0, 0], said
    assert [one.count("kept in kept") for one in said] == [1, 1]
    done = gradproof(tmp_path, "examine", "kept", "--json", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    verdicts = [row["verdict"] for row in report["gradients"]]
    assert verdicts == ["correct"] * 4 + ["nonfinite"], done.stdout
    assert len(report["notes"]) == 1
    assert report["notes"][0].endswith("not computed on rank-0 and nonfinite on rank-1")
    assert done.returncode == 1


def _rank(folder: Path, rank: int, port: int) -> AbstractContextManager[subprocess.Popen[str]]:
    """As `torchrun` starts it."""
    own = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **{name: str(value) for name, value in own.items()}}
    words = [sys.executable, "-m", "gradproof", "run", "--defer", "kept", "train.py"]
    return interruptible(words, folder, env=environment)

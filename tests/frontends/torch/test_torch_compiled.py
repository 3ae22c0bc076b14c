"""Code that `torch.compile` has made: its results stay, and its gradients are judged from the graph behind it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests import pictures
from torch.utils._python_dispatch import _disable_current_modes

import gradproof
from gradproof.diagnosis.report import GradientReport, Report

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

Boxed = Callable[[list[Any]], list[Any]]


def _compiler(change: Callable[[list[Any]], list[Any]] = list) -> Callable[..., Any]:
    """Takes the compiler's place on the same road, without the minute that writing machine code takes.

    What it makes runs the whole graph, where no mode hears the ops; `change` spoils the results of a forward.
    """
    common = importlib.import_module("torch._dynamo.backends.common")

    def forward(module: Any, _: Any) -> Boxed:
        return boxed(module, change)

    def backward(module: Any, _: Any) -> Boxed:
        return boxed(module, list)

    def boxed(module: Any, change: Callable[[list[Any]], list[Any]]) -> Boxed:
        def run(given: list[Any]) -> list[Any]:
            with _disable_current_modes():
                return change(list(module(*given)))

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    def compile_fx(module: Any, inputs: Any, **_: Any) -> Any:
        return common.aot_autograd(fw_compiler=forward, bw_compiler=backward)(module, inputs)

    return compile_fx


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(importlib.import_module("torch._inductor.compile_fx"), "compile_fx", _compiler())
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def told(report: Report) -> dict[str, GradientReport]:
    return {gradient.source: gradient for gradient in report.gradients}


class TooSmall(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 * x * x  # 3 is meant


def test_a_compiled_model_is_proven_right_and_keeps_its_state() -> None:
    """Its running means change inside of the compiled code, where nobody hears of it."""

    def trained() -> Any:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
        fast, optimizer = torch.compile(net), torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = fast(torch.randn(5, 3)).square().mean()
            loss.backward()
            optimizer.step()
        return net

    plain = trained()
    torch._dynamo.reset()
    with gradproof.watch(checks="all") as report:
        seen = trained()
    assert [g.verdict.value for g in report.gradients] == ["correct"] * 18
    assert {g.oracle for g in report.gradients} == {"ball"}
    assert all(map(torch.equal, plain.state_dict().values(), seen.state_dict().values()))


def test_a_rule_of_the_users_is_named_at_its_line() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with gradproof.watch() as report:
        loss = torch.compile(lambda x: TooSmall.apply(x).sum())(x)
        loss.backward()
    (gradient,) = report.gradients
    (found,) = gradient.diagnostics
    assert (found.kind, gradient.verdict.value) == ("custom-gradient", "wrong")
    assert "`TooSmall`" in found.headline
    assert found.primary.span.line == TooSmall.backward.__code__.co_firstlineno + 3


def test_a_trap_is_named_at_the_line_it_was_traced_from() -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)

    def rooted(x: Any) -> Any:
        return torch.where(x > 0, torch.sqrt(x), 0.0).sum()

    with gradproof.watch() as report:
        torch.compile(rooted)(x).backward()
    (gradient,) = report.gradients
    found = next(one for one in gradient.diagnostics if one.kind == "masked-branch")
    assert found.primary.span.line == rooted.__code__.co_firstlineno + 1


def test_a_parameter_that_the_compiled_code_does_not_use_is_told() -> None:
    net = torch.nn.ModuleDict({"used": torch.nn.Linear(2, 1), "unused": torch.nn.Linear(2, 1)})
    fast = torch.compile(lambda x: net["used"](x).sum())
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gradproof.watch() as report:
        loss = fast(torch.ones(3, 2))
        loss.backward()
        optimizer.step()
    found = told(report)
    assert found["used.weight"].verdict.value == "correct"
    assert [one.kind for one in found["unused.weight"].diagnostics] == ["not-connected"]


def test_a_step_with_its_backward_inside_runs_and_is_judged() -> None:
    w = torch.tensor([0.5, -1.0], requires_grad=True)

    def step(x: Any) -> Any:
        loss = (x * w).tanh().square().mean()
        loss.backward()
        return loss.detach()

    with gradproof.watch() as report:
        torch.compile(step)(torch.tensor([2.0, 3.0]))
    assert {name: g.verdict.value for name, g in told(report).items()} == {"w": "correct"}


def test_what_was_compiled_in_one_watch_is_heard_in_the_next() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    fast = torch.compile(lambda x: torch.exp(x).sum())
    for _ in range(2):
        with gradproof.watch() as report:
            fast(x).backward()
        assert [g.verdict.value for g in report.gradients] == ["correct"]


def test_random_numbers_of_compiled_code_are_not_drawn_twice() -> None:
    x = torch.ones(4, requires_grad=True)
    fast = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5).sum())
    torch.manual_seed(0)
    with gradproof.watch() as report:
        fast(x).backward()
        after = torch.rand(2)
    torch.manual_seed(0)
    fast(x).backward()
    assert torch.equal(after, torch.rand(2))
    assert "draws random numbers" in (report.gradients[0].reason or "")


def test_an_op_that_the_program_has_defined_is_not_run_twice() -> None:
    runs = []

    @torch.library.custom_op("gradproof_compiled::counted", mutates_args=())
    def counted(x: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return x.clone()

    counted.register_fake(lambda x: torch.empty_like(x))
    counted.register_autograd(lambda ctx, g: g)
    x = torch.ones(2, requires_grad=True)
    with gradproof.watch() as report:
        torch.compile(lambda x: counted(x).sum())(x).backward()
    assert runs == [1]
    assert "counted" in (report.gradients[0].reason or "")


def test_what_compiled_code_changes_is_known_to_have_changed() -> None:
    state, x = torch.zeros(2), torch.ones(2, requires_grad=True)

    def counting(x: Any) -> Any:
        state.add_(1.0)
        return (x * state).sum()

    with gradproof.watch() as report:
        first = (x + state).square().sum()
        (first + torch.compile(counting)(x) + (x * state).sum()).backward()
    (gradient,) = report.gradients
    assert (gradient.verdict.value, x.grad.tolist()) == ("correct", [4.0, 4.0])


def test_code_that_the_compiler_has_spoilt_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoilt(results: list[Any]) -> list[Any]:
        return [results[0] * 1.5, *results[1:]]

    compiler = importlib.import_module("torch._inductor.compile_fx")
    monkeypatch.setattr(compiler, "compile_fx", _compiler(spoilt))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with gradproof.watch() as report:
        value = torch.compile(lambda x: torch.exp(x).sum())(x)
        (value * value).backward()
    (gradient,) = report.gradients
    assert gradient.verdict.value == "inaccurate"  # every rule is right, and the number is not
    assert "execution-mode" in [one.kind for one in gradient.diagnostics]


def test_compiled_code_from_before_the_watch_is_said_to_be_unheard() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    fast = torch.compile(lambda x: torch.exp(x).sum())
    fast(x)
    with gradproof.watch() as report:
        fast(x).backward()
    assert "compiled code" in (report.gradients[0].reason or "")


REAL = """
import torch

class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
scale = torch.ones(1, requires_grad=True)

@torch.compile
def loss_of(x):
    return (net(x) + Half.apply(scale)).square().mean()

optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = loss_of(torch.randn(5, 3))
    loss.backward()
    optimizer.step()
print([value.tolist() for value in net.state_dict().values()], scale.grad, torch.rand(2))
"""


def test_the_real_compiler_keeps_its_bits_and_is_judged_alike_with_a_warm_cache(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(REAL)
    own = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    audit = [sys.executable, pictures.__file__, "run", "--json", "report.json", "train.py"]
    printed, reports = [], []
    for words in (audit, audit, [sys.executable, "train.py"]):
        done = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=300)
        printed.append(done.stdout.splitlines()[0])
        reports.append(json.loads((tmp_path / "report.json").read_text())["gradients"])
    assert printed[0] == printed[1] == printed[2]
    cold, warm = ({(g["source"]["name"], g["occurrence"]): g for g in one} for one in reports[:2])
    assert {key: g["verdict"] for key, g in cold.items()} == {key: g["verdict"] for key, g in warm.items()}
    assert {g["verdict"] for (name, _), g in cold.items() if name != "scale"} == {"correct"}
    assert cold["scale", 1]["verdict"] == "wrong"

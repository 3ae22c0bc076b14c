"""Steps of optimizers are listened to while gradients wait for them, and go on as they would."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch.optim import optimizer as optimizers

import gradproof
from gradproof.frontends.torch.record.observation import observe

pytestmark = pytest.mark.torch


def test_hooks_that_have_nothing_to_wait_for_do_not_disturb_those_behind_them() -> None:
    """Both a leaf without a gradient and one with a gradient wait for a step here, and the program has hooks too."""
    used, unused = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    before = dict(optimizers._global_optimizer_pre_hooks)
    stepped = []
    with gradproof.watch() as report:
        optimizer = torch.optim.SGD([used, unused], lr=0.1)
        used.square().sum().backward()
        handle = optimizers.register_optimizer_step_pre_hook(lambda *given: stepped.append(1))
        optimizer.step()
        optimizer.step()
        handle.remove()
    assert len(stepped) == 2
    assert {one.source: one.verdict.value for one in report.gradients} == {
        "used": "correct",
        "unused": "missing",
    }
    assert dict(optimizers._global_optimizer_pre_hooks) == before
    assert "gradproof" not in getattr(torch.optim.Optimizer.zero_grad, "__module__", "")


def test_only_those_that_wait_for_something_hear_of_a_step() -> None:
    """A program makes thousands of steps a second: they are counted, and nothing else where nobody waits."""
    used, unused = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    optimizer = torch.optim.SGD([used, unused], lr=0.1)
    with observe(lambda call: None) as observation:
        heard = observation._steps._listeners
        used.square().sum().backward()
        assert len(observation._steps._listeners) == len(heard) + 2
        optimizer.step()  # `unused` is told to be without a gradient
        assert observation._steps._listeners == heard
    assert observation.failures == []

"""A program that is observed runs as without us: weights, buffers, random numbers, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn
from torch.nn import functional as F

from gradproof.frontends.record.sites import always
from gradproof.frontends.torch.record.observation import observe

pytestmark = pytest.mark.torch


def _trained(model: nn.Module, x: Any, y: Any) -> list[Any]:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(4):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return [*model.state_dict().values(), torch.rand(3)]


def mlp() -> list[Any]:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
    return _trained(model, torch.randn(6, 4), torch.randint(0, 3, (6,)))


def cnn() -> list[Any]:
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 3))
    return _trained(model, torch.randn(4, 1, 8, 8), torch.randint(0, 3, (4,)))


class _Last(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.rnn(x)[0][:, -1])


def lstm() -> list[Any]:
    return _trained(_Last(), torch.randn(4, 6, 3), torch.randint(0, 3, (4,)))


@pytest.mark.parametrize("program", [mlp, cnn, lstm])
@pytest.mark.parametrize("every", [False, True], ids=["sampled", "all"])
def test_training_ends_with_the_same_bits(program: Callable[[], list[Any]], every: bool) -> None:
    torch.manual_seed(7)
    plain = program()
    torch.manual_seed(7)
    with observe(lambda call: None, always) if every else observe(lambda call: None) as observation:
        seen = program()
    assert observation.failures == []
    assert all(torch.equal(a, b) for a, b in zip(plain, seen, strict=True))


def test_nothing_is_left_behind() -> None:
    before = (
        torch.autograd.graph._engine_run_backward,
        torch.autograd.Function.apply,
        torch.Tensor.register_hook,
    )
    with observe(lambda call: None):
        pass
    after = (
        torch.autograd.graph._engine_run_backward,
        torch.autograd.Function.apply,
        torch.Tensor.register_hook,
    )
    assert [one.__qualname__ for one in before] == [one.__qualname__ for one in after]
    assert before[0] is after[0]
    assert before[2] is after[2]
    assert torch._C._len_torch_dispatch_stack() == 0

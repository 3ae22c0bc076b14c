"""A program that is observed runs as without us: weights, buffers, random numbers, to the last bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

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


class _Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.head(self.layer(self.embed(x), src_mask=mask, is_causal=True).mean(1))


def transformer() -> list[Any]:
    return _trained(_Reader(), torch.randint(0, 9, (4, 5)), torch.randint(0, 3, (4,)))


def gan() -> list[Any]:
    maker = nn.Sequential(
        nn.Linear(2, 6), nn.BatchNorm1d(6), nn.LeakyReLU(0.2, inplace=True), nn.Linear(6, 3)
    )
    judge = nn.Sequential(
        nn.utils.spectral_norm(nn.Linear(3, 6)), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 1)
    )
    optimizers = [torch.optim.Adam(one.parameters(), lr=1e-2, betas=(0.5, 0.9)) for one in (maker, judge)]
    loss = nn.BCEWithLogitsLoss()
    for _ in range(4):
        made = maker(torch.randn(5, 2))
        optimizers[1].zero_grad()
        loss(judge(torch.randn(5, 3)), torch.ones(5, 1)).backward()
        loss(judge(made.detach()), torch.zeros(5, 1)).backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        loss(judge(made), torch.ones(5, 1)).backward()
        optimizers[0].step()
    return [*maker.state_dict().values(), *judge.state_dict().values(), torch.rand(3)]


def lbfgs() -> list[Any]:
    model, x, y = (
        nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)),
        torch.randn(6, 2),
        torch.randn(6, 1),
    )
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    losses = [optimizer.step(closure).detach() for _ in range(3)]
    return [*model.state_dict().values(), *losses, torch.rand(3)]


def autocast() -> list[Any]:
    model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.GroupNorm(2, 4), nn.GELU(), nn.Flatten(), nn.Linear(12, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=4)
    x, y = torch.randn(4, 2, 5), torch.randint(0, 3, (4,))
    for _ in range(4):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return [*model.state_dict().values(), torch.rand(3)]


def distributed() -> list[Any]:
    """One process of one: the buckets, hooks and views of gradients are as with many."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
        parallel = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
        return _trained(parallel, torch.randn(6, 4), torch.randint(0, 3, (6,)))
    finally:
        torch.distributed.destroy_process_group()


def checkpointed() -> list[Any]:
    """Both kinds, with random numbers inside, that the second forward has to draw again."""
    part, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.3)), nn.Linear(8, 3)

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part, self.head = part, head

        def forward(self, x: Any) -> Any:
            first = checkpoint(self.part, x.requires_grad_(), use_reentrant=True)
            return self.head(first + checkpoint(self.part, x, use_reentrant=False))

    return _trained(Whole(), torch.randn(6, 4), torch.randint(0, 3, (6,)))


PROGRAMS = [mlp, cnn, lstm, transformer, gan, lbfgs, autocast, distributed, checkpointed]


def _run(program: Callable[[], list[Any]]) -> tuple[list[Any], list[str], list[bytes]]:
    """(what it returns, its warnings, the state of all random numbers after it)."""
    torch.manual_seed(7)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = program()
    return result, [f"{one.filename}:{one.lineno} {one.message}" for one in caught], _random_states()


def _random_states() -> list[bytes]:
    return [torch.get_rng_state().numpy().tobytes(), repr(np.random.get_state()).encode()]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("every", [False, True], ids=["sampled", "all"])
def test_training_ends_with_the_same_bits(program: Callable[[], list[Any]], every: bool) -> None:
    if program is distributed and not torch.distributed.is_available():
        pytest.skip("this PyTorch is built without distributed training")
    plain, warned, states = _run(program)
    with observe(lambda call: None, always) if every else observe(lambda call: None) as observation:
        seen, warned_too, states_too = _run(program)
    assert observation.failures == []
    assert all(torch.equal(a, b) for a, b in zip(plain, seen, strict=True))
    assert warned_too == warned
    assert states_too == states


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

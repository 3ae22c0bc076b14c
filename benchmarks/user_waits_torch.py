"""PyTorch's part of `user_waits.py`: functions to check, networks to audit, a training loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)

Checked = tuple[Callable[..., Any], tuple[Any, ...], Callable[[], object]]


def _checked(function: Callable[..., Any], *args: Any) -> Checked:
    def gradient() -> list[Any]:
        leaves = [one.detach().requires_grad_() for one in args]
        return list(torch.autograd.grad(function(*leaves), leaves))

    return function, args, gradient


def ten_ops() -> Checked:
    def f(x: Any) -> Any:
        y = torch.exp(torch.sin(x) * x + 2.0)
        return torch.sum(torch.log(y + x**2) * torch.tanh(x) - x)

    return _checked(f, torch.tensor(np.linspace(0.1, 1.0, 8), dtype=torch.float32, requires_grad=True))


def chain() -> Checked:
    def f(x: Any) -> Any:
        for k in range(50):
            x = torch.sin(x) + 0.01 * k
        return torch.sum(x)

    return _checked(f, torch.tensor(np.linspace(0.1, 1.0, 3), dtype=torch.float32, requires_grad=True))


def _mlp(inputs: int, hidden: int, outputs: int, batch: int) -> Checked:
    rng = np.random.default_rng(0)
    a, b = (
        torch.tensor(rng.normal(size=shape) / shape[0] ** 0.5, dtype=torch.float32, requires_grad=True)
        for shape in ((inputs, hidden), (hidden, outputs))
    )
    x = torch.tensor(rng.normal(size=(batch, inputs)), dtype=torch.float32)
    return _checked(lambda a, b: torch.mean((torch.tanh(x @ a) @ b) ** 2), a, b)


FUNCTIONS: dict[str, Callable[[], Checked]] = {
    "ten ops": ten_ops,
    "MLP with 60 parameters": lambda: _mlp(5, 10, 1, 8),
    "MLP with 1e3 parameters": lambda: _mlp(22, 22, 22, 32),
    "MLP with 1e5 parameters": lambda: _mlp(224, 224, 224, 32),
    "chain of 100 ops": chain,
}


def _dense(n: int) -> tuple[nn.Module, tuple[int, ...]]:
    width = round((n / 2) ** 0.5)
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width)), (32, width)


def _convolutional(n: int) -> tuple[nn.Module, tuple[int, ...]]:
    """For images of 28 x 28; nearly all parameters of a large one are in its first dense layer."""
    channels = 8 if n < 100_000 else 32
    wide = n // (50 * channels)
    net = nn.Sequential(
        nn.Conv2d(1, channels, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(50 * channels, wide),
        nn.ReLU(),
        nn.Linear(wide, 10),
    )
    return net, (32, 1, 28, 28)


def _attention(n: int) -> tuple[nn.Module, tuple[int, ...]]:
    width = round((n / 12) ** 0.5 / 4) * 4
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, activation="gelu", batch_first=True)
    return layer, (8, 16, width)


class _Last(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.lstm(x)[0][:, -1]


def _lstm(n: int) -> tuple[nn.Module, tuple[int, ...]]:
    width = round((n / 8) ** 0.5)
    return _Last(width), (16, 12, width)


NETWORKS = {"MLP": _dense, "CNN": _convolutional, "attention": _attention, "LSTM": _lstm}


def network(name: str, n: int) -> tuple[Callable[[], object], int]:
    """One gradient of a mean squared error, and how many parameters the network has."""
    torch.manual_seed(0)
    net, shape = NETWORKS[name](n)
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=shape), dtype=torch.float32)
    wanted = torch.tensor(rng.normal(size=tuple(net(x).shape)), dtype=torch.float32)

    def gradient() -> None:
        net.zero_grad()
        torch.mean((net(x) - wanted) ** 2).backward()

    return gradient, sum(one.numel() for one in net.parameters())


TRAINING_NAME = "a training loop of 320 steps under `gradproof run`"
TRAINING = """
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(
    nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(),
    nn.Linear(3872, 64), nn.ReLU(), nn.Linear(64, 10),
)
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(2560, 1, 28, 28), torch.randint(0, 10, (2560,))
for _ in range(4):
    for xs, ys in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xs), ys).backward()
        optimizer.step()
"""

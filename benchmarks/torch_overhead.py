"""What an audit costs a PyTorch program: unchecked steps, and steps that are recorded; ratios in one run.

Blocks of plain and observed steps take turns, so that a busy machine slows both; plain against plain is the noise.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from gradproof.frontends.record.sites import always
from gradproof.frontends.torch.record.observation import observe

BLOCKS, STEPS, FEW = 9, 20, 2  # recorded steps are dear: a few show what they cost


def mlp() -> Callable[[], None]:
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    return _step(model, torch.randn(64, 64), torch.randint(0, 10, (64,)))


def cnn() -> Callable[[], None]:
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 256, 10)
    )
    return _step(model, torch.randn(16, 1, 16, 16), torch.randint(0, 10, (16,)))


def _step(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def seconds(step: Callable[[], None], count: int) -> float:
    """Of one step."""
    start = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - start) / count


def ratio(step: Callable[[], None], policy: Callable[[int], bool] | None) -> float:
    """The median over blocks of observed time over plain time; without a policy, of plain over plain."""
    found = []
    for _ in range(BLOCKS):
        plain = seconds(step, STEPS)
        if policy is None:
            found.append(seconds(step, STEPS) / plain)
            continue
        with observe(lambda call: None, policy) as observation:
            for _ in range(3):  # the first executions are looked at; they are not what is measured here
                step()
            found.append(seconds(step, FEW if policy is always else STEPS) / plain)
        assert observation.failures == []
    return statistics.median(found)


def main() -> None:
    torch.manual_seed(0)
    print(f"{'model':8} {'plain/plain':>12} {'unchecked':>10} {'recorded':>10}")
    for name, make in (("mlp", mlp), ("cnn", cnn)):
        step = make()
        for _ in range(STEPS):
            step()
        noise, unchecked = ratio(step, None), ratio(step, lambda occurrence: occurrence <= 2)
        print(f"{name:8} {noise:12.3f} {unchecked:10.3f} {ratio(step, always):10.2f}")


if __name__ == "__main__":
    main()

"""What an audit costs a PyTorch program: steps that are not checked, and the one that is.

    python benchmarks/torch_overhead.py [--blocks 9] [--checks 5] [--parameters 1e6]

Unchecked steps: blocks of plain and observed steps take turns, so that a busy machine slows both; plain against plain
is the noise. They are measured when nobody listens any more: an audit goes on to listen for half a second of computing,
once, in case a call at another line comes. Checked step: a network of so many float32 parameters, one step with its
verdict for every entry, in plain steps of the same network. Times are of the processor on one thread, so that a busy
machine counts as little as it can; memory is the growth of the process's largest size during the check.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import statistics
import time
from collections.abc import Callable

os.environ.update(
    OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"
)  # threads that wait for each other count as time

import torch
from torch import nn
from torch.nn import functional as F

import gradproof
from gradproof.frontends.record.sites import always
from gradproof.frontends.torch.record.observation import observe

BLOCK, STEPS, FEW = 200, 20, 2  # recorded steps are dear: a few show what they cost
SETTLING = (
    30  # steps at the beginning of a block that do not count: the first ones after other work are slower
)
Step = Callable[[], None]


def mlp() -> Step:
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    return _step(model, torch.randn(64, 64), torch.randint(0, 10, (64,)))


def cnn() -> Step:
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 256, 10)
    )
    return _step(model, torch.randn(16, 1, 16, 16), torch.randint(0, 10, (16,)))


def dense(n_parameters: int) -> Step:
    width = int(math.sqrt(n_parameters / 2))
    layers = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)]
    return _step(nn.Sequential(*layers), torch.randn(64, width), torch.randint(0, 10, (64,)))


def convolutional(n_parameters: int) -> Step:
    channels = int(math.sqrt(n_parameters / 18))
    layers = [nn.Conv2d(3, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()]
    for _ in range(2):
        layers += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * 4, 10))
    return _step(model, torch.randn(8, 3, 8, 8), torch.randint(0, 10, (8,)))


def _step(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Step:
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def seconds(step: Step, count: int) -> float:
    """Of one step."""
    start = time.process_time()
    for _ in range(count):
        step()
    return (time.process_time() - start) / count


def ratio(step: Step, policy: Callable[[int], bool] | None, blocks: int) -> float:
    """The median over blocks of observed time over plain time; without a policy, of plain over plain."""
    found = []
    before = settled(step)
    for _ in range(blocks):
        if policy is None:
            seen = settled(step)
        else:
            with observe(lambda call: None, policy) as observation:
                for _ in range(3):  # the first executions are looked at; they are not what is measured here
                    step()
                while (
                    policy is not always and observation.recorder.is_on
                ):  # half a second of computing, in all
                    step()
                seen = seconds(step, FEW) if policy is always else settled(step)
            assert observation.failures == []
        after = settled(step)
        found.append(2 * seen / (before + after))
        before = after
    return statistics.median(found)


def settled(step: Step) -> float:
    """Seconds of one step of many, when all that it needs is in the processor's caches again."""
    seconds(step, SETTLING)
    return seconds(step, BLOCK)


def checked(step: Step, checks: int) -> tuple[float, float, str]:
    """(a step with its verdicts in plain steps, megabytes more at most, the verdicts)."""
    found, told = [], ""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(checks):
        plain = seconds(step, STEPS)

        def judged() -> None:
            nonlocal told
            with gradproof.watch() as report:
                step()
            told = ", ".join(sorted({f"{one.verdict.value} {one.oracle}" for one in report.gradients}))

        found.append(seconds(judged, 1) / plain)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return statistics.median(found), grown / 1024, told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--checks", type=int, default=5)
    parser.add_argument("--parameters", type=float, default=1e6)
    given = parser.parse_args()
    torch.manual_seed(0)
    print(f"{'model':14} {'plain/plain':>12} {'unchecked':>10} {'recorded':>10}")
    for name, make in (("mlp", mlp), ("cnn", cnn)):
        step = make()
        seconds(step, STEPS)
        figures = [
            ratio(step, policy, given.blocks) for policy in (None, lambda occurrence: occurrence <= 2, always)
        ]
        print(f"{name:14} {figures[0]:12.3f} {figures[1]:10.3f} {figures[2]:10.2f}", flush=True)
    print(f"\n{'model':14} {'checked':>12} {'MB more':>10}  verdicts")
    for name, large in (("dense", dense), ("convolutional", convolutional)):
        step = large(int(given.parameters))
        seconds(step, STEPS)
        times, grown, told = checked(step, given.checks)
        print(f"{name:14} {times:12.1f} {grown:10.0f}  {told}", flush=True)


if __name__ == "__main__":
    main()

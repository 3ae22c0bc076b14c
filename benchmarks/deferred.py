"""What a checked step takes from a training, in place and deferred, and how fast workers judge what was kept.

    python benchmarks/deferred.py [UNITS]

A network of three layers in PyTorch, 700 units unless told: about a million parameters. Times of steps are CPU seconds
of one thread, the least of several; throughput is wall time, and says something on an idle machine only.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable

# Threads that wait for each other count as work; before NumPy is there.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import nn

from gradproof.audit.budget import every
from gradproof.audit.session import Session
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.keeping import keeper_in
from gradproof.deferred.model import Ended

TRIES, KEPT = 5, 8


def training_step(units: int) -> Callable[[], None]:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(units, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh(), nn.Linear(units, 1)
    )
    x, y = torch.randn(128, units), torch.randn(128, 1)
    print(f"{sum(one.numel() for one in model.parameters()):,} parameters, a batch of {len(x)}")

    def step() -> None:
        model.zero_grad()
        ((model(x) - y) ** 2).mean().backward()

    return step


def seconds(step: Callable[[], None], tries: int) -> float:
    """CPU seconds of one step, the least of several."""
    found = []
    for _ in range(tries):
        started = time.process_time()
        step()
        found.append(time.process_time() - started)
    return min(found)


def observed(step: Callable[[], None], session: Session, tries: int) -> float:
    session.start()
    try:
        return seconds(step, tries)
    finally:
        session.stop()


def kept_in(folder: str, step: Callable[[], None]) -> tuple[float, float]:
    """Seconds of a deferred step, and the megabytes that it writes."""
    keeper = keeper_in(folder, Session().options)
    session = Session(policy=every, keeper=keeper)
    took = observed(step, session, KEPT)
    keeper.end(Ended(session.known()))
    return took, keeper.n_bytes / 1e6 / keeper.n_calls


def throughput(folder: str, jobs: int) -> float:
    """Captures that are judged in a second, the start of the processes not counted."""
    moments = [time.perf_counter() for step in judge_all(opened(folder), jobs) if step.judged is not None]
    first = max(jobs, 1)  # by then all of them have begun
    return (len(moments) - first) / (moments[-1] - moments[first - 1])


def main(units: int) -> None:
    torch.set_num_threads(1)
    step = training_step(units)
    plain = seconds(step, 4 * TRIES)

    def tell(what: str, took: float, more: str = "") -> None:
        print(f"{what:<30} {took:.4f} s, {took / plain:.0f} gradient steps{more}")

    tell("a gradient step", plain)
    tell("checked in place", observed(step, Session(policy=every), 2))
    with tempfile.TemporaryDirectory() as base:
        for jobs in (1, 2):
            folder = os.path.join(base, str(jobs))
            took, size = kept_in(folder, step)
            if jobs == 1:
                tell("deferred", took, f", {size:.1f} MB")
            print(f"judged later by {jobs:<14} {throughput(folder, jobs):.2f} a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 700)

"""What a checked step takes from a training, in place and deferred, and how fast workers judge what was kept.

    python benchmarks/deferred.py [UNITS]

A network of three layers in PyTorch, 700 units unless told: about a million parameters. Times of steps are CPU seconds
of the thread that trains, the least of several; what a thread of ours writes beside it is told, too. Throughput by the
clock says something on an idle machine only.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

# Threads that wait for each other count as work; before NumPy is there.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import psutil
import torch
from torch import nn

from gradproof.audit.budget import every
from gradproof.audit.session import Session
from gradproof.cluster.beginning import hold_memory
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.keeping import keeper_in
from gradproof.deferred.model import Ended

TRIES, KEPT = 5, 40
BATCHES = (128, 512)


def training_step(units: int, batch: int = BATCHES[0]) -> Callable[[], None]:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(units, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh(), nn.Linear(units, 1)
    )
    x, y = torch.randn(batch, units), torch.randn(batch, 1)
    print(f"{sum(one.numel() for one in model.parameters()):,} parameters, a batch of {batch}")

    def step() -> None:
        model.zero_grad()
        ((model(x) - y) ** 2).mean().backward()

    return step


@dataclass(frozen=True)
class Cost:
    """Of one step, the least of several: seconds that its own thread computes, and those of all threads together."""

    own: float
    all: float


def cost(step: Callable[[], None], tries: int, rest: Callable[[], None] = lambda: None) -> Cost:
    """`rest` is what goes on beside the step and is waited for, as it would be over before the next checked one."""
    found = []
    for _ in range(tries):
        own, all_ = time.thread_time(), time.process_time()
        step()
        own = time.thread_time() - own
        rest()
        found.append(Cost(own, time.process_time() - all_))
    return Cost(min(one.own for one in found), min(one.all for one in found))


def observed(step: Callable[[], None], session: Session, tries: int, rest: Callable[[], None]) -> Cost:
    session.start()
    try:
        return cost(step, tries, rest)
    finally:
        session.stop()


def kept_in(folder: str, step: Callable[[], None]) -> tuple[Cost, float]:
    """A deferred step, and the megabytes that it writes."""
    keeper = keeper_in(folder, Session().options)
    session = Session(policy=every, keeper=keeper)
    took = observed(step, session, KEPT, keeper.wait)
    keeper.end(Ended(session.known()))
    return took, keeper.n_bytes / 1e6 / keeper.n_calls


def throughput(folder: str, jobs: int) -> tuple[float, float]:
    """Captures that are judged in a second, by the clock and by what the processes had of the machine.

    The start of the processes is not counted. On a busy machine the clock says nothing; computing that was done says
    what there would be on an idle one: the busiest process is what all wait for.
    """
    moments, spent = [], []
    for step in judge_all(opened(folder), jobs):
        if step.judged is not None:
            moments.append(time.perf_counter())
            spent.append(_computed())
    first = max(jobs, 1) * 2  # by then all of them have begun
    n_judged = len(moments) - first
    busiest = max(spent[-1][key] - spent[first - 1].get(key, 0.0) for key in spent[-1])
    return n_judged / (moments[-1] - moments[first - 1]), n_judged / busiest


def _computed() -> dict[int, float]:
    """CPU seconds of this process and those that it has started."""
    found = {}
    own = psutil.Process()
    for one in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            times = one.cpu_times()
            found[one.pid] = times.user + times.system
    return found


def steps(units: int, batch: int) -> None:
    step = training_step(units, batch)
    plain = cost(step, 4 * TRIES).own

    def tell(what: str, took: Cost, more: str = "") -> None:
        beside = took.all - took.own
        beside_it = f", {beside:.4f} s beside it" if beside > plain / 100 else ""
        print(f"{what:<30} {took.own:.4f} s, {took.own / plain:.1f} gradient steps{beside_it}{more}")

    tell("a gradient step", Cost(plain, plain))
    tell("checked in place", observed(step, Session(policy=every), 2, lambda: None))
    with tempfile.TemporaryDirectory() as base:
        took, size = kept_in(os.path.join(base, "kept"), step)
        tell("deferred", took, f", {size:.1f} MB")


def main(units: int) -> None:
    torch.set_num_threads(1)
    for batch in BATCHES:
        steps(units, batch)
    step, by_computing = training_step(units), []
    hold_memory()  # as `gradproof examine` does
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as base:
            folder = os.path.join(base, "kept")
            kept_in(folder, step)
            by_clock, by_process = throughput(folder, jobs)
        by_computing.append(by_process)
        print(f"judged later by {jobs:<14} {by_clock:.2f} a second; {by_process:.2f} by what was computed")
    print(f"{'two processes':<30} {by_computing[1] / by_computing[0]:.2f} x by what was computed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 700)

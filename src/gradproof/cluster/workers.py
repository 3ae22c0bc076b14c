"""Independent tasks done by one process, by several, or by a Dask cluster; results come as they are ready."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import parent_process
from typing import Any

from gradproof.errors import InvalidInput

REACHED_IN = 10  # seconds in which a scheduler has to answer
AHEAD = 3  # tasks for each worker that are under way: one is done, the others wait at its door
WATCHED = 0.5  # seconds between two looks at the time that a task takes
LOSSES = 3  # workers that a task may take with it before it is given up


@dataclass(frozen=True)
class Failed:
    """A task without a result, and why: it raised, or every worker that took it was lost."""

    reason: str


Arguments = tuple[Any, ...] | Callable[[], tuple[Any, ...]]
"""Of one task; large ones are made when its turn has come."""

Done = Callable[[Callable[..., Any], Mapping[str, Arguments]], Iterator[tuple[str, Any]]]
"""Does a function for the arguments of each task; a result, or `Failed`, comes with the task's name."""


@contextmanager
def workers(jobs: int = 1, scheduler: str | None = None) -> Iterator[Done]:
    """What does tasks: this process where one is enough, else a cluster that ends with the block."""
    if scheduler is None and jobs == 1:
        yield _here
        return
    demand_cluster(2)
    with _client(jobs, scheduler) as client:
        yield lambda function, tasks: _there(client, function, tasks)


def memory_of_each(jobs: int) -> int:
    """Bytes that each of several processes here may use: Dask ends one that takes more, and another gets its task."""
    from distributed.system import MEMORY_LIMIT

    return int(MEMORY_LIMIT) // jobs


def demand_cluster(jobs: int) -> None:
    """Refuse now what could not be done later."""
    if jobs > 1 and importlib.util.find_spec("distributed") is None:
        raise InvalidInput(
            'several processes need Dask distributed, which is not installed: pip install "gradproof[cluster]"'
        )


def _here(function: Callable[..., Any], tasks: Mapping[str, Arguments]) -> Iterator[tuple[str, Any]]:
    for name, args in tasks.items():
        try:
            result = function(*_made(args))
        except Exception as error:
            result = Failed(f"{type(error).__name__}: {error}")
        yield name, result


def _made(args: Arguments) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else args()


@contextmanager
def _client(jobs: int, scheduler: str | None) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set(_SETTINGS):
        if scheduler is None:
            preload = [*dask.config.get("distributed.worker.preload", ()), "gradproof.cluster.beginning"]
            try:
                cluster = LocalCluster(
                    n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50,
                    memory_limit=memory_of_each(jobs), scheduler_kwargs={"dashboard_address": _ANY_PORT},
                    preload=preload,
                )  # fmt: skip
            except (OSError, RuntimeError) as error:  # one of them was ended before it had begun
                raise InvalidInput(f"{jobs} processes could not be started: {error}") from error
            with cluster, Client(cluster) as client:
                yield client
            return
        try:
            client = Client(scheduler, timeout=REACHED_IN)
        except (OSError, TimeoutError, ValueError) as error:
            raise InvalidInput(
                f"no Dask scheduler answers at {scheduler}: {str(error) or type(error).__name__}"
            ) from error
        with client:
            yield client


_ANY_PORT = "127.0.0.1:0"  # of a scheduler's own pages: the usual one may be another cluster's
_SETTINGS = {
    "distributed.scheduler.allowed-failures": LOSSES,
    "distributed.admin.low-level-log-length": 0,
    "distributed.worker.profile.enabled": False,  # it stops a worker a hundred times a second
    "distributed.admin.system-monitor.interval": "5s",
}


def _there(
    client: Any, function: Callable[..., Any], tasks: Mapping[str, Arguments]
) -> Iterator[tuple[str, Any]]:
    """A worker that is lost takes nothing with it: its tasks are done by another one.

    A task that waited behind the one which ends its workers is lost as often as that: what was lost is tried alone.
    As many tasks are under way as keep all workers busy; the others take no memory yet.
    """
    from distributed import as_completed

    waiting, lost = iter(tasks), list[str]()
    memory = _memory_of(client)  # now: workers that were just lost are not among them
    names: dict[Any, str] = {}
    running = as_completed()

    def start(name: str) -> None:
        future = client.submit(function, *_made(tasks[name]), pure=False)
        names[future] = name
        running.add(future)

    try:
        for name in islice(waiting, AHEAD * max(sum(client.nthreads().values()), 1)):
            start(name)
        for future in running:
            name = names.pop(future)
            for following in islice(waiting, 1):
                start(following)
            if _is_lost(future):
                lost.append(name)
            else:
                yield name, _result(future, memory)
        for name in lost:
            alone = client.submit(function, *_made(tasks[name]), pure=False)
            names[alone] = name
            yield name, _result(alone, memory)
    finally:
        client.cancel(list(names))


def _is_lost(future: Any) -> bool:
    return type(future.exception()).__name__ == "KilledWorker"


def _result(future: Any, memory: str) -> Any:
    error = future.exception()
    if error is None:
        return future.result()
    if _is_lost(future):
        return Failed(f"each of {LOSSES + 1} processes that took it was lost{memory}")
    return Failed(f"{type(error).__name__}: {error}")


def _memory_of(client: Any) -> str:
    """What a worker may use: beyond it, Dask ends the worker."""
    limits = [one.get("memory_limit") or 0 for one in client.scheduler_info(n_workers=-1)["workers"].values()]
    return f"; a process may use {min(limits) / 1e9:.1f} GB" if limits and min(limits) > 0 else ""


@contextmanager
def ending_worker_after(seconds: float) -> Iterator[None]:
    """End the process of a worker that computes longer: a call into a library that never returns has no other end.

    Seconds of computing. Does nothing in a process that is no worker of ours: that one is the user's.
    """
    if parent_process() is None or "distributed" not in sys.modules:
        yield
        return
    is_over, until = threading.Event(), time.process_time() + seconds

    def watch() -> None:
        while not is_over.wait(WATCHED):
            if time.process_time() > until:
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()

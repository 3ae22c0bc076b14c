"""Work that gives up Python's lock, shared among the cores of the processor."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def on_all_cores(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """The results of `work` on all parts, in their order; neighbouring parts go to the same core.

    Threads live only as long as the call, so that a program under observation never meets them, not even if it
    forks. They see what the caller has set for its own context, such as NumPy's warnings. The first error is raised
    when all have left off, and so is Ctrl-C.
    """
    count = min(cores(), len(parts))
    if count <= 1:
        return [work(part) for part in parts]
    ends = [len(parts) * k // count for k in range(count + 1)]
    shares: list[list[Result]] = [[] for _ in range(count)]
    errors: list[BaseException] = []

    def run(k: int) -> None:
        try:
            for part in parts[ends[k] : ends[k + 1]]:
                if errors:
                    return
                shares[k].append(work(part))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=copy_context().run, args=(run, k)) for k in range(1, count)]
    try:
        for thread in threads:
            thread.start()
        run(0)
    except BaseException as interruption:
        errors.append(interruption)
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    if errors:
        raise errors[0]
    return [result for share in shares for result in share]


def cores() -> int:
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1

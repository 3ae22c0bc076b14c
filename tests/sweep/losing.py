"""Tasks that take their process with them."""

from __future__ import annotations

import os

from gradproof.cluster.workers import ending_worker_after


def double(x: int) -> int:
    if x == 3:
        os._exit(1)  # as a crash in a library does
    return 2 * x


def endless() -> None:
    import distributed  # as in a worker

    assert distributed
    with ending_worker_after(0.2):
        while True:
            pass

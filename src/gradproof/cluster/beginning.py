"""What each worker on this machine begins with.

Ctrl-C goes to all processes of a terminal, and is for the program. And freed memory stays with the process, as arrays
of the same sizes come next: to get it anew from the system takes a third of the time of a check.
"""

from __future__ import annotations

import ctypes
import signal
from contextlib import suppress

MOST_HELD = 1 << 27  # bytes that are free and not given back
LARGE = 1 << 25  # bytes of an array that gets memory of its own all the same; the C library allows no more
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def dask_setup(worker: object) -> None:
    """Dask calls it by this name. A worker ends with the cluster that has started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hold_memory()


def hold_memory() -> None:
    """For a process that does nothing but judge; without effect where the C library has no such setting."""
    with suppress(OSError, AttributeError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, LARGE)
        libc.mallopt(_M_TRIM_THRESHOLD, MOST_HELD)

"""What each worker on this machine begins with: Ctrl-C goes to all processes of a terminal, and is for the program."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Dask calls it by this name. A worker ends with the cluster that has started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

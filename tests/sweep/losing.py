"""A task that takes its process with it."""

from __future__ import annotations

import os


def double(x: int) -> int:
    if x == 3:
        os._exit(1)  # as a crash in a library does
    return 2 * x

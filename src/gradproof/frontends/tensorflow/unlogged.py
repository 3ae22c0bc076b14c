"""What TensorFlow logs of runs of ours is no part of the user's output."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unlogged() -> Iterator[None]:
    """A cast that drops imaginary parts was told in the user's own run; that a replay traces anew concerns nobody."""
    logger = logging.getLogger("tensorflow")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before

"""Tells gradients that the user has asked gradproof to check from those that the program computes for itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ASKED: ContextVar[bool] = ContextVar("asked", default=False)


@contextmanager
def asked_for() -> Iterator[None]:
    """Around a call of `check`: its gradients have a report of their own."""
    token = _ASKED.set(True)
    try:
        yield
    finally:
        _ASKED.reset(token)


def is_asked_for() -> bool:
    return _ASKED.get()

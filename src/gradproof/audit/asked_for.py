"""Tells gradients that the user has asked gradproof to check from those that the program computes for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from gradproof.diagnosis.report import GradientReport

# Each is told what every call of `check` has found: with the function's gradient, or one written by hand, in its place.
LISTENERS: list[Callable[[Sequence[GradientReport]], None]] = []

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


def announce(found: Sequence[GradientReport]) -> None:
    for listener in tuple(LISTENERS):
        listener(found)

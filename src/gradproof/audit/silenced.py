"""Working inside the user's program without leaving a trace in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import numpy as np

_OURS: ContextVar[bool] = ContextVar("ours", default=False)
_SILENCE = ("ignore", None, Warning, None, 0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """What is computed inside neither warns nor changes how the user's own warnings are shown.

    `warnings.catch_warnings` would make Python forget which warnings it has shown already, so that the user's
    would appear a second time. The list of filters is exchanged in place, which Python does not notice.
    """
    filters = cast("list[Any]", warnings.filters)
    before, token = filters[:], _OURS.set(True)
    filters[:] = [_SILENCE]
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        filters[:] = before
        _OURS.reset(token)


def is_undisturbed() -> bool:
    """Whether what is computed now is ours: a gradient among it, of a fix that is tried, is no gradient to audit."""
    return _OURS.get()

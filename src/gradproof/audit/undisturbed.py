"""Working inside the user's program without leaving a trace in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

_SILENCE = ("ignore", None, Warning, None, 0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """What is computed inside neither warns nor changes how the user's own warnings are shown.

    `warnings.catch_warnings` would make Python forget which warnings it has shown already, so that the user's
    would appear a second time. The list of filters is exchanged in place, which Python does not notice.
    """
    filters = cast("list[Any]", warnings.filters)
    before = filters[:]
    filters[:] = [_SILENCE]
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        filters[:] = before

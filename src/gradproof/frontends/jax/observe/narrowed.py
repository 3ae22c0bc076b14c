"""Numbers of float64 that JAX takes as float32, where that takes away what tells them apart.

Without `jax_enable_x64` every float64 array is rounded when it enters, which nobody notices where seven digits are
enough. Where numbers that differ become the same, or infinite, no gradient can know of it any more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from jax._src import config
from jax._src.lax import lax

from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import span_of, user_places

MOST_LOOKED_AT = 1_000  # entries of an array
MOST_LOOKS = 10_000  # arrays: a training loop brings its batches for ever
MOST_TOLD = 3  # places
KEPT = 0.9  # of the numbers that differ: what rounding makes of random ones stays above it


class Narrowed:
    """Listens to arrays that become JAX's own; `remarks` says what was lost, once for every line."""

    def __init__(self, note_failure: Callable[[], None]) -> None:
        self._note_failure = note_failure
        self._told: dict[str, str] = {}
        self._left = MOST_LOOKS

    def patches(self) -> list[Patch]:
        return [wrap(lax, "stage", self._stage)]

    def remarks(self) -> list[str]:
        return list(self._told.values())[:MOST_TOLD]

    def look_at(self, given: Any, frame: Any) -> None:
        """What a primitive or a compiled function is given."""
        if config.enable_x64.value or not self._left:
            return
        try:
            for x in given:
                if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.size:
                    self._look_at(x, frame)
        except Exception:
            self._note_failure()

    def _stage(self, original: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        self.look_at((x,), sys._getframe(2))
        return original(x, *args, **kwargs)

    def _look_at(self, x: Any, frame: Any) -> None:
        self._left = max(0, self._left - 1)
        lost = what_is_lost(x)
        places = user_places(frame) if lost else ()
        if places:
            place = span_of(places[0])
            self._told.setdefault(
                f"{place.file}:{place.line}",
                f"{place.file}:{place.line}: {lost}, since `jax_enable_x64` is off; turn it on, or take away what the "
                f"numbers share before JAX is given them",
            )


def what_is_lost(x: Any) -> str:
    """In words, with two of the numbers; empty where rounding leaves them what they are."""
    numbers = np.unique(x.flat[:MOST_LOOKED_AT])
    with np.errstate(over="ignore", under="ignore"):
        rounded = numbers.astype(np.float32)
    infinite = numbers[np.isinf(rounded) & np.isfinite(numbers)]
    if infinite.size:
        return f"{float(infinite[0])!r} of a float64 array becomes infinite in float32"
    same = np.flatnonzero(rounded[1:] == rounded[:-1])
    if len(numbers) - len(same) > KEPT * len(numbers):
        return ""
    pair = " and ".join(repr(float(one)) for one in numbers[same[0] : same[0] + 2])
    return f"numbers of a float64 array that differ become the same in float32 ({pair})"

"""Plain values that tracing turns into constants: which they are, whether they changed, whether they were used."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_ITEMS = 16  # of a list or array; a longer one is data, not a setting
COMMON = 4  # axes, ranks and small sizes
_PLAIN = (bool, int, float, complex, str)


def is_plain(value: Any) -> bool:
    if isinstance(value, (*_PLAIN, np.generic)):
        return True
    if isinstance(value, np.ndarray):
        return value.size <= MOST_ITEMS and value.dtype.kind in "biuf"
    return (
        isinstance(value, list | tuple)
        and len(value) <= MOST_ITEMS
        and all(isinstance(x, _PLAIN) for x in value)
    )


def copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.array(value)
    return list(value) if isinstance(value, list) else value


def shown(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def same(before: Any, now: Any) -> bool:
    return type(shown(before)) is type(shown(now)) and bool(shown(before) == shown(now))


def numbers_in(value: Any) -> set[float]:
    """The numbers of a constant. Small integers occur everywhere, as axes and sizes: they prove nothing."""
    if value.size > MOST_ITEMS or value.dtype.kind not in "biuf":
        return set()
    numbers = [float(x) for x in value.reshape(-1)]
    if value.dtype.kind != "f":
        numbers = [x for x in numbers if abs(x) > COMMON]
    return {*numbers, *(float(np.float32(x)) for x in numbers)}


def occurs(value: Any, numbers: set[float]) -> bool:
    """Whether a value is among the constants; a flag or a name is not, but decides what is traced."""
    if isinstance(value, bool | str):
        return True
    items = np.asarray(shown(value)).reshape(-1)
    if not items.size or items.dtype.kind not in "biuf":  # an empty list leaves no number that could be shown
        return False
    return all(float(x) in numbers or float(np.float32(x)) in numbers for x in items)

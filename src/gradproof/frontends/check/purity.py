"""Calls a function twice before anything is compared: chance, state and changed arguments show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradproof.ir.types import Array


@dataclass(frozen=True)
class Impurity:
    """What a second call showed: the arguments that were changed, or two different results."""

    changed: tuple[str, ...] = ()
    first: Array | None = None
    second: Array | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """One call: its result, and the leaves of its arguments before and after it."""

    result: Array
    before: Sequence[Array]
    after: Sequence[Array]


def impurity(run: Callable[[], Trial], names: Sequence[str]) -> tuple[Impurity | None, Array]:
    """What is impure about a function, if anything is, and the result of its first call."""
    first = run()
    changed = [
        name for name, before, after in zip(names, first.before, first.after) if not _same(before, after)
    ]
    if changed:
        return Impurity(changed=tuple(changed)), first.result
    second = run()
    if not _same(first.result, second.result):
        return Impurity(first=first.result, second=second.result), first.result
    return None, first.result


def _same(a: Array, b: Array) -> bool:
    """Bit for bit: a pure function has no reason to differ at all."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))

"""Values as a framework passes them around: arrays of numbers, and lists of tensors in the place of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gradproof.engine.trace import Traced


@dataclass(frozen=True)
class TensorList:
    """What a variant tensor holds: one traced array or list per place, None where nothing was written yet."""

    items: tuple[Traced | TensorList | None, ...]


@dataclass(frozen=True)
class Unread(TensorList):
    """What an op without a lowering put into a variant: a node without a meaning stands for it and has its name."""


def tensors_in(x: Traced | TensorList | None) -> Iterable[Traced]:
    """The arrays that an input consists of."""
    if isinstance(x, Traced):
        yield x
    elif isinstance(x, TensorList):
        for item in x.items:
            yield from tensors_in(item)


def is_numeric(array: Any) -> bool:
    return array.dtype.kind in "biufc" or str(array.dtype) == "bfloat16"

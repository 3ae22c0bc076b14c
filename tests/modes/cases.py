"""What a program with a known parting op is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ModeCase:
    """A function and a point; the op at which its modes part, where, and whose doing it is."""

    function: Callable[[Any], Any]
    point: Any
    op: str = ""
    phase: str = "forward"
    kind: str = ""
    text: str = ""


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)

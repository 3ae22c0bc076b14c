"""Special functions of one or more real balls, entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb

KERNELS: dict[str, Callable[..., Any]] = {
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "lgamma": lambda x: x.lgamma(),
    "digamma": lambda x: x.digamma(),
}

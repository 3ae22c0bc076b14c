"""One message of PyTorch's about gradients: how it is told, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownError:
    """`kind` is the cause that it is told as, or a crash where no gradient was lost by it."""

    pattern: str
    kind: str
    headline: str
    label: str
    why: str
    fix: str

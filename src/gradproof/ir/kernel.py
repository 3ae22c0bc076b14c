"""What may be asked of an op that has no exact meaning here, but can be computed again by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradproof.ir.types import Array


class Kernel(Protocol):
    """One real result of an op as a function of its inputs, run where nothing else notices.

    `dtype` is what it computes in: the widest dtype that the op has, which may be wider than the program's.
    """

    @property
    def dtype(self) -> str: ...

    def __call__(self, *xs: Array) -> Array:
        """The result for other numbers in the place of the inputs; raises ValueError where there is none."""
        ...

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        """What the framework's own rule says reaches each input; None where there is no rule to ask.

        It is a candidate for the derivative, to be checked: never evidence.
        """
        ...

"""Python's operators for values that leave every operation to an arithmetic."""

from __future__ import annotations

from typing import Any


class Operators:
    """A value of the arithmetic `m`: what a rule writes as `a * b` is its `m.mul(a, b)`."""

    __slots__ = ("m",)
    __array_ufunc__ = None  # NumPy arrays leave the operators to us

    m: Any

    def __neg__(self) -> Any:
        return self.m.neg(self)

    def __add__(self, other: Any) -> Any:
        return self.m.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return self.m.sub(self, other)

    def __mul__(self, other: Any) -> Any:
        return self.m.mul(self, other)

    def __truediv__(self, other: Any) -> Any:
        return self.m.div(self, other)

    def __radd__(self, other: Any) -> Any:
        return self.m.add(other, self)

    def __rsub__(self, other: Any) -> Any:
        return self.m.sub(other, self)

    def __rmul__(self, other: Any) -> Any:
        return self.m.mul(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return self.m.div(other, self)

"""Variables: arrays that tapes watch by themselves and that are changed by assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput, TapeMisused
from gradproof.frontends.record.place import here
from gradproof.ir import types
from gradproof.tape.array import Array
from gradproof.tape.plain import require_plain
from gradproof.tape.record import LEAF, Record
from gradproof.tape.state import STATE


@dataclass(frozen=True, eq=False)
class Identity:
    """Who a leaf is, whatever value it has at the time."""

    name: str | None = None
    is_trainable: bool = False


class Variable(Array):
    """A parameter. Every tape watches it when it is used, unless `trainable` is False.

    It is changed by `assign`, `assign_add`, `assign_sub`, or outside a tape like any array (`w -= step`).
    """

    __slots__ = ("_identity",)

    def __init__(
        self, value: Any, name: str | None = None, trainable: bool = True, dtype: Any = None
    ) -> None:
        self._identity = Identity(name, trainable)
        super().__init__(self._leaf(checked_values(value, dtype)))

    @property
    def name(self) -> str | None:
        return self._identity.name

    @property
    def trainable(self) -> bool:
        return self._identity.is_trainable

    def assign(self, value: Any) -> Variable:
        """Give the Variable a new value of the same shape; its dtype stays."""
        new = np.array(value._value if isinstance(value, Array) else value, dtype=self.dtype)
        if new.shape != self.shape:
            raise InvalidInput(
                f"a Variable of shape {self.shape} cannot be assigned a value of shape {new.shape}"
            )
        self._record_now = self._leaf(new)
        self._value_now = new
        self._version += 1
        return self

    def assign_add(self, value: Any) -> Variable:
        return self.assign(self._value + (value._value if isinstance(value, Array) else np.asarray(value)))

    def assign_sub(self, value: Any) -> Variable:
        return self.assign(self._value - (value._value if isinstance(value, Array) else np.asarray(value)))

    def _leaf(self, value: np.ndarray[Any, Any]) -> Record:
        return Record(LEAF, (), value, here(), call=self._identity)

    def _take_over(self, new: Array) -> None:
        if STATE.tapes:
            raise TapeMisused(
                "a Variable was changed in place while a tape was recording, so earlier uses of it would be "
                "differentiated with the wrong values\n  change a copy (`a = np.copy(w)`), or change it "
                "outside the tape, or use `w.assign(...)`, which starts a new value"
            )
        self.assign(new._value)

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        return f"Variable({np.array2string(self._value, separator=', ')}, dtype={self.dtype}{name})"

    def __reduce__(self) -> Any:
        return Variable, (np.array(self._value), self.name, self.trainable, self.dtype)


def checked_values(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """A copy of a number or array that a program can hold; anything else is refused by name."""
    require_plain(value, "this")
    try:
        values = np.array(value._value if isinstance(value, Array) else value, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"not an array of numbers: {error}") from error
    types.dtype_name(values)
    return values

"""The traced array: NumPy functions see an array, tapes see where it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradproof.frontends.record.place import here
from gradproof.tape.record import Origin, Record
from gradproof.tape.state import STATE, note_leave, roots_of

if TYPE_CHECKING:
    from gradproof.tape.operator_types import ArrayOperators
else:
    ArrayOperators = object


class Array(ArrayOperators):
    """A NumPy array that tapes can follow. It computes as NumPy does: same values, dtypes and errors.

    Its operators and methods are in `operators.py`. Numbers leave through `float()`, `item()`, `np.asarray`;
    what is computed from those is constant to every tape.
    """

    __slots__ = (
        "__weakref__",
        "_base",
        "_origin",
        "_recipe",
        "_record_now",
        "_seen",
        "_value_now",
        "_version",
    )
    __array_priority__ = 1000
    __hash__ = object.__hash__

    if TYPE_CHECKING:  # the methods of NumPy's arrays

        def __getattr__(self, name: str) -> Any: ...

        def __getitem__(self, index: Any) -> Any: ...

        def __setitem__(self, index: Any, value: Any) -> None: ...

    def __init__(self, record: Record | None = None, value: Any = None, origin: Origin | None = None) -> None:
        self._record_now = record
        self._value_now: np.ndarray[Any, Any] = value if record is None else record.value
        self._origin = origin
        self._version = 0
        self._base: Array | None = None  # what this is a view of
        self._recipe: Callable[[Any], Any] | None = None
        self._seen = 0  # the version of the base that this view shows

    @property
    def _record(self) -> Record | None:
        if self._base is not None:
            self._refresh()
        return self._record_now

    @property
    def _value(self) -> np.ndarray[Any, Any]:
        if self._base is not None:
            self._refresh()
        return self._value_now

    @property
    def is_tracked(self) -> bool:
        record = self._record
        return record is not None and record.is_tracked

    @property
    def roots(self) -> frozenset[object]:
        """The Variables and watched arrays this was computed from, also where no tape was recording."""
        if self._origin is not None:
            return self._origin.roots
        return frozenset() if self._record is None else roots_of(self._record)

    def _take_over(self, new: Array) -> None:
        """Become what `new` is: this is what changing an array in place means to a tape."""
        self._value_now, self._record_now, self._origin = new._value, new._record, new._origin
        self._version += 1

    def _refresh(self) -> None:
        base = self._base
        assert base is not None
        assert self._recipe is not None
        if base._base is not None:
            base._refresh()
        if base._version != self._seen:
            new = self._recipe(base)
            self._value_now, self._record_now, self._origin = new._value, new._record, new._origin
            self._seen = base._version

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        note_leave("np.asarray", self._record)
        del copy  # always a copy: the tape needs its own values untouched
        return np.array(self._value, dtype=dtype)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values as a plain NumPy array; what is computed from it is constant to every tape."""
        note_leave("numpy()", self._record)
        return self._value.copy()

    def item(self, *index: Any) -> Any:
        note_leave("item()", self._record)
        return self._value.item(*index)

    def tolist(self) -> Any:
        note_leave("tolist()", self._record)
        return self._value.tolist()

    def __float__(self) -> float:
        note_leave("float()", self._record)
        return float(self._value)

    def __complex__(self) -> complex:
        note_leave("complex()", self._record)
        return complex(self._value)

    def __int__(self) -> int:
        note_leave("int()", self._record)
        return int(self._value)

    def __index__(self) -> int:
        return self._value.__index__()

    def __bool__(self) -> bool:
        """A Python condition: the decision is kept, because another outcome would have run other code."""
        record = self._record
        if record is not None and STATE.branches is not None and STATE.tapes:
            STATE.branches.append(record)
        return bool(self._value)

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._value_now.shape
        return shape

    @property
    def ndim(self) -> int:
        return self._value_now.ndim

    @property
    def size(self) -> int:
        return self._value_now.size

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._value_now.dtype
        return dtype

    @property
    def itemsize(self) -> int:
        return self._value_now.itemsize

    @property
    def nbytes(self) -> int:
        return self._value_now.nbytes

    def __len__(self) -> int:
        return len(self._value_now)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return repr(self._value).replace("array", type(self).__name__, 1)

    def __str__(self) -> str:
        return str(self._value)

    def __format__(self, spec: str) -> str:
        value: Any = self._value[()] if self.ndim == 0 else self._value
        return format(value, spec)

    def __reduce__(self) -> Any:
        return Array, (None, np.array(self._value), None)


def array(value: Any, dtype: Any = None) -> Array:
    """A traced array that no tape watches yet; `tape.watch` makes it a source."""
    from gradproof.tape.variable import checked_values

    values = checked_values(value, dtype)
    origin = Origin("not-watched", here(), frozenset((object(),)))
    return Array(value=values, origin=origin)

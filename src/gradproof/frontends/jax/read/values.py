"""Who an array is: a number of its own, its dtype and shape, and its entries on demand."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
from jax._src import core, dtypes
from jax._src.state.types import AbstractRef

from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.record.model import Value
from gradproof.frontends.record.value import loan

_PLAIN = (bool, int, float, complex)  # Python has one object for many numbers
NO_NUMBERS = "it holds no numbers"
MUTABLE = "it was computed by an array that is changed in place (`jax.new_ref`), which is not followed here"


class Values:
    """Arrays by their identity; they are kept, so that no other one gets the address of one that is gone."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Value]] = {}
        self._arrays: dict[int, Any] = {}

    def of(self, array: Any) -> Value:
        """The value of an array; plain Python numbers are told apart by nothing, and each is new."""
        known = self._known.get(id(array))
        if known is not None:
            return known[1]
        return self.new(array)

    def knows(self, array: Any) -> bool:
        """Whether an array has a value."""
        return id(array) in self._known

    def new(self, array: Any) -> Value:
        """A value of its own, even if the array has one already."""
        value = value_of(array)
        self._arrays[value.id] = array
        if type(array) not in _PLAIN:
            self._known.setdefault(id(array), (array, value))
        return value

    def array(self, value: Value) -> Any:
        """The array itself, as JAX's primitives take it."""
        return self._arrays[value.id]


def value_of(array: Any) -> Value:
    aval = core.typeof(array)
    dtype = getattr(aval, "dtype", None)
    shape = tuple(int(n) for n in getattr(aval, "shape", ()))
    if dtype is None or dtype == dtypes.float0:
        return Value(next(numbers), "none", None, unknown=NO_NUMBERS)
    if isinstance(aval, AbstractRef):
        return Value(next(numbers), "none", None, unknown=MUTABLE)
    if dtypes.issubdtype(dtype, dtypes.extended):
        return Value(next(numbers), "key", shape, partial(_key_data, array))
    return Value(next(numbers), str(np.dtype(dtype)), shape, partial(_entries, array, dtype))


def _entries(array: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A copy, unless they are given back: while a view is there, JAX cannot give the memory to another array."""
    borrowed = loan()
    if borrowed is None:
        return np.array(array, dtype=dtype)
    borrowed.is_taken = True
    return np.asarray(array, dtype=dtype)


def _key_data(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(jax.random.key_data(array))


def plain_value(array: np.ndarray[Any, Any]) -> Value:
    """A value that no array of JAX's holds: one of ours, made of some that do."""
    return Value(next(numbers), str(array.dtype), array.shape, lambda: array)

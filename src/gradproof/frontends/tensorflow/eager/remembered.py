"""What is kept of an op until a report asks for it: its numbers, and none of the program's tensors.

A tensor that somebody holds is not freed, and a program may count on that it is. So what is kept are arrays, which
share the numbers of a tensor and not its life, under the id that TensorFlow gives to no other tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tensorflow.python.framework import dtypes, indexed_slices
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.framework.tensor_shape import TensorShape

WITHOUT_NUMBERS = frozenset({dtypes.resource, dtypes.variant})


@dataclass(slots=True, eq=False)
class Remembered:
    """Stands for a tensor, and answers the same questions."""

    _id: int
    dtype: Any
    shape: tuple[int | None, ...] | None
    array: Any

    def _numpy_internal(self) -> Any:
        return self.array

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.array, *args, **kwargs)

    def _num_elements(self) -> int:
        return 0 if self.array is None else int(self.array.size)


def without_shapes(attrs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Attributes of an op with plain tuples for the shapes among them, which live as long as somebody holds them."""
    return tuple(_sizes(one) if type(one) is TensorShape else one for one in attrs)


def _sizes(shape: TensorShape) -> tuple[int, ...] | None:
    return None if shape.rank is None else tuple(-1 if n is None else n for n in shape.as_list())


def remembered(thing: Any) -> Any:
    """In the place of a tensor, or of one made of several; what lies on another device stays as it is."""
    if isinstance(thing, tf_ops.EagerTensor):
        dtype = thing.dtype
        if dtype in WITHOUT_NUMBERS:
            return Remembered(thing._id, dtype, thing._shape_tuple(), None)
        if "CPU" not in thing.backing_device:
            return thing
        array = thing._numpy_internal()
        if dtype == dtypes.string:
            array = np.asarray(array, object)  # a single text comes as bytes
        return Remembered(thing._id, dtype, thing._shape_tuple(), array)
    if isinstance(thing, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(
            remembered(thing.values), remembered(thing.indices), remembered(thing.dense_shape)
        )
    return thing


def lightly(thing: Any) -> Any:
    """As `remembered`, for what is kept long and seldom asked for: a tensor that would stay loses its numbers."""
    if isinstance(thing, tf_ops.EagerTensor):
        return Remembered(thing._id, thing.dtype, thing._shape_tuple(), None)
    return thing

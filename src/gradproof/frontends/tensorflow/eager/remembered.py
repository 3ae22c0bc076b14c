"""What the ring keeps of an op that ran outside the tapes: its numbers, and none of the program's tensors.

A tensor that somebody holds is not freed, and a program may count on that it is. So what is only kept in case a report
asks for it are arrays, which share the numbers of a tensor and not its life.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tensorflow.python.framework import dtypes
from tensorflow.python.framework.tensor_shape import TensorShape

_WITHOUT_NUMBERS = frozenset({dtypes.resource, dtypes.variant, dtypes.string})


@dataclass(slots=True, eq=False)
class Remembered:
    """Stands for a tensor, and answers the same questions."""

    _id: int
    dtype: Any
    shape: tuple[int | None, ...] | None
    array: Any

    def _numpy_internal(self) -> Any:
        return self.array

    def _num_elements(self) -> int:
        return 0 if self.array is None else int(self.array.size)


def without_shapes(attrs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Attributes of an op with plain tuples for the shapes among them, which live as long as somebody holds them."""
    return tuple(_sizes(one) if type(one) is TensorShape else one for one in attrs)


def _sizes(shape: TensorShape) -> tuple[int, ...] | None:
    return None if shape.rank is None else tuple(-1 if n is None else n for n in shape.as_list())


def remembered(tensor: Any) -> Any:
    """In the place of a tensor; one without numbers, or whose numbers lie on another device, has none afterwards."""
    if not hasattr(tensor, "_numpy_internal") or isinstance(tensor, Remembered):
        return tensor
    dtype = tensor.dtype
    has_numbers = dtype not in _WITHOUT_NUMBERS and "CPU" in tensor.backing_device
    array = tensor._numpy_internal() if has_numbers else None
    return Remembered(tensor._id, dtype, tensor._shape_tuple(), array)

"""The table of lowerings: what an op of TensorFlow means, in ops of the program.

A lowering is called with the arithmetic `m`, the recorded event and its inputs as traced arrays (a list of
tensors is a `TensorList`). It returns the result, or a tuple of results where the op has several; None stands for
a result that has no meaning as a number. Integer inputs (axes, shapes, indices) are read with `ints(x)`: they are
facts of the run, not of the function. A variant of an op that has no meaning here raises NotImplementedError, and
the op stays opaque.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.table import LoweringTable
from gradproof.frontends.tensorflow.lower._kinds import COMPLEX

# A sparse matrix is a variant: what numbers it has is seen inside of it.
TABLE = LoweringTable(COMPLEX, holds_arrays=lambda name: name.startswith("SparseMatrix"))
lower, lower_to = TABLE.lower, TABLE.lower_to


def ints(x: Traced) -> tuple[int, ...]:
    """The entries of an integer tensor, flattened."""
    return tuple(int(entry) for entry in np.asarray(x.value).reshape(-1))


def axes_of(axes: Traced, x: Traced) -> tuple[int, ...]:
    """Reduction axes as TensorFlow passes them, counted from the front and without repetition."""
    return tuple(sorted({axis % max(x.ndim, 1) for axis in ints(axes)})) if x.ndim else ()


def float_attr(event: Any, name: str, like: Any = None) -> np.ndarray[Any, Any]:
    """A float attribute: TensorFlow holds it in float32, and rounds it to the dtype it computes in."""
    value = np.asarray(np.float32(event.attrs[name]))
    return value if like is None else value.astype(like.value.dtype)


def is_channels_first(event: Any) -> bool:
    return str(event.attrs.get("data_format", "NHWC")) in ("NCHW", "NCDHW", "CHANNELS_FIRST")


def move_axis(m: Any, x: Any, source: int, place: int) -> Any:
    """`x` with one axis moved to another place; the others keep their order."""
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(place, source)
    return m.transpose(x, order=tuple(order)) if source != place else x


def scatter_axis(m: Any, x: Any, places: Any, axis: int, size: int) -> Any:
    """Slices along an axis summed into the places named, of an axis of length `size`: the transpose of `take`."""
    summed = m.scatter_add(move_axis(m, x, axis, 0), np.asarray(places), size=size)
    return move_axis(m, summed, 0, axis)

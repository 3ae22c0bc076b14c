"""TensorFlow's tensors, variables and attributes as plain records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import numpy as np
from tensorflow.python.eager import context, record
from tensorflow.python.framework import composite_tensor, dtypes, indexed_slices, op_def_registry, tensor_util
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.framework import tensor as tf_tensor
from tensorflow.python.ops import gen_resource_variable_ops, handle_data_util
from tensorflow.python.util import nest

from gradproof.frontends.record.model import Observed, Parameter, Value
from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.eager.remembered import Remembered, remembered
from gradproof.ir.types import Array


@dataclass(eq=False)
class UnknownTensor:
    """A tensor whose numbers cannot be known."""

    reason: str
    dtype: Any
    shape: Any
    _id: int = field(default_factory=lambda: -next(numbers))


_NO_NUMBERS = ("resource", "variant")
NOT_NUMBERS = "a {} holds no numbers"


def value_of(tensor: Any, originals: Mapping[int, int] | None = None) -> Value:
    """A tensor as a record that reads its numbers on demand; `originals` renames stand-ins."""
    identity = (originals or {}).get(tensor._id, tensor._id)
    if isinstance(tensor, UnknownTensor):
        return Value(identity, tensor.dtype.name, None, unknown=tensor.reason)
    dtype = tensor.dtype.base_dtype.name
    if isinstance(tensor, Remembered) and tensor.array is None and dtype not in _NO_NUMBERS:
        return Value(identity, dtype, shape_of(tensor), unknown="its numbers were not kept")
    if dtype in _NO_NUMBERS:
        return Value(identity, dtype, shape_of(tensor), unknown=NOT_NUMBERS.format(dtype))
    return Value(identity, dtype, shape_of(tensor), _reader(tensor))


def optional_value_of(tensor: Any) -> Value | None:
    """As `value_of`, with None kept; a sparse gradient is made dense, as TensorFlow itself would."""
    tensor = entries_of(tensor)
    if tensor is None:
        return None
    if isinstance(tensor, indexed_slices.IndexedSlices):
        observed = observed_of(tensor)
        assert observed is not None
        return Value(tensor.values._id, observed.values.dtype, observed.shape, lambda: _dense(observed))
    if isinstance(tensor, tf_ops.EagerTensor | Remembered):
        return value_of(tensor)
    if hasattr(tensor, "handle"):
        return variable_value(tensor)
    if isinstance(tensor, tf_tensor.Tensor):
        return Value(tensor._id, tensor.dtype.name, shape_of(tensor), unknown="it is a tensor of a graph")
    return constant_value(tensor)


def entries_of(thing: Any) -> Any:
    """Of a tensor that is made of several, ragged or sparse, the one that has its numbers; all else is itself."""
    is_whole = not isinstance(thing, composite_tensor.CompositeTensor) or hasattr(thing, "handle")
    if is_whole or isinstance(thing, indexed_slices.IndexedSlices):
        return thing
    parts = nest.flatten(thing, expand_composites=True)
    real = [part for part in parts if part.dtype.is_floating or part.dtype.is_complex]
    return real[0] if len(real) == 1 else thing


def constant_value(thing: Any) -> Value:
    """Something that never was a tensor, such as a Python number; it gets an id that no tensor has.

    Python's own numbers have no dtype: TensorFlow makes float32 of them.
    """
    if isinstance(thing, composite_tensor.CompositeTensor):
        return Value(-id(thing), "none", None, unknown=f"it is a {type(thing).__name__}")
    array = np.asarray(thing)
    if array.dtype == np.float64 and not isinstance(thing, np.ndarray | np.generic):
        array = array.astype(np.float32)
    return Value(-id(thing), array.dtype.name, array.shape, lambda: array)


def observed_of(gradient: Any) -> Observed | None:
    """A gradient as the framework returned it."""
    if gradient is None:
        return None
    if isinstance(gradient, indexed_slices.IndexedSlices):
        shape = gradient.dense_shape
        return Observed(
            value_of(gradient.values),
            value_of(gradient.indices),
            None if shape is None else tuple(int(n) for n in np.asarray(shape)),
            (gradient.values._id, gradient.indices._id),
        )
    value = optional_value_of(gradient)  # of a ragged tensor, that of its entries
    return None if value is None else Observed(value, ids=(value.id,))


def variable_of(variable: Any) -> Parameter:
    """A tf.Variable or Keras variable as a record."""
    inner = getattr(variable, "value", variable)
    inner = variable if callable(inner) else inner
    return Parameter(
        variable.handle._id,
        str(getattr(variable, "name", "")),
        getattr(variable, "path", None),
        inner.dtype.base_dtype.name,
        shape_of(inner),
        bool(getattr(variable, "trainable", False)),
    )


def variable_value(variable: Any) -> Value:
    """What a variable holds now; the id is the variable's own."""
    dtype = dtypes.as_dtype(variable.dtype)
    if not isinstance(variable.handle, tf_ops.EagerTensor):
        return Value(
            variable.handle._id, dtype.name, shape_of(variable), unknown="it is a variable of a graph"
        )
    tensor = read_handle(variable.handle)
    if tensor is None:
        return Value(variable.handle._id, dtype.name, shape_of(variable), unknown="it was never initialised")
    return Value(variable.handle._id, dtype.name, shape_of(tensor), _reader(tensor))


def read_handle(handle: Any) -> Any:
    """The tensor a variable holds, read without any tape or callback noticing; None if it holds none.

    Asked first whether there is one: TensorFlow writes a warning to the user's terminal when a read fails.
    """
    dtype = variable_dtype(handle)
    if dtype is None:
        return None
    with unrecorded():
        if not gen_resource_variable_ops.var_is_initialized_op(handle)._numpy_internal():
            return None
        return gen_resource_variable_ops.read_variable_op(handle, dtype)


def variable_dtype(handle: Any) -> Any:
    """The type of a variable's values; None for other resources, such as iterators and tables."""
    if handle.dtype != dtypes.resource:
        return None
    data = handle_data_util.get_handle_data(handle)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None
    return dtypes.as_dtype(data.shape_and_type[0].dtype)


class unrecorded:
    """Ops in this block run at once, and no tape, accumulator or callback hears them, nor those of others."""

    def __enter__(self) -> None:
        self._eager = context.eager_mode()
        self._eager.__enter__()
        self._stop = record.stop_recording()
        self._stop.__enter__()
        self._data = context.context()._thread_local_data
        self._callbacks = self._data.op_callbacks
        self._data.op_callbacks = []

    def __exit__(self, *exception: Any) -> None:
        self._data.op_callbacks = self._callbacks
        self._stop.__exit__(None, None, None)
        self._eager.__exit__(None, None, None)


def shape_of(thing: Any) -> tuple[int, ...] | None:
    if isinstance(thing, tf_ops.EagerTensor):
        # Without an object for the shape and for each size.
        return cast(tuple[int, ...], thing._shape_tuple())
    shape = thing.shape
    if isinstance(shape, tuple):
        return shape
    return tuple(shape.as_list()) if shape.rank is not None and shape.is_fully_defined() else None


def _reader(tensor: Any) -> Callable[[], Array]:
    kept = remembered(tensor)
    return lambda: np.asarray(kept._numpy_internal())


def _dense(observed: Observed) -> Array:
    array = observed.array
    return observed.values.array if array is None else array  # type: ignore[return-value]


def plain_attrs(op: str, attrs: tuple[Any, ...]) -> Mapping[str, object]:
    """Attributes as Python numbers, strings and tuples; data types by name, defaults filled in."""
    try:
        return _plain_attrs(op, attrs)
    except TypeError:  # a list among the values: no place in the cache for it
        return _convert_attrs(op, attrs)


@lru_cache(maxsize=4096)
def _plain_attrs(op: str, attrs: tuple[Any, ...]) -> Mapping[str, object]:
    return _convert_attrs(op, attrs)


def _convert_attrs(op: str, attrs: tuple[Any, ...]) -> Mapping[str, object]:
    definition = op_def_registry.get(op)
    declared = {} if definition is None else {attr.name: attr for attr in definition.attr}
    given = dict(zip(attrs[::2], attrs[1::2]))
    plain: dict[str, object] = {}
    for name, value in given.items():
        attr = declared.get(name)
        if value is None and attr is not None and attr.HasField("default_value"):
            value = attr_value(attr.default_value)
        plain[name] = _plain(value, "" if attr is None else attr.type)
    for name, attr in declared.items():
        if name not in plain and attr.HasField("default_value"):
            plain[name] = _plain(attr_value(attr.default_value), attr.type)
    return plain


def attr_value(proto: Any) -> Any:
    """The payload of an AttrValue message."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return None
    if kind == "list":
        fields = proto.list.ListFields()
        return list(fields[0][1]) if fields else []
    return getattr(proto, kind)


def _plain(value: Any, kind: str) -> object:
    if kind.startswith("list("):
        return tuple(_plain(item, kind[5:-1]) for item in value) if value is not None else ()
    if isinstance(value, list | tuple):
        return tuple(_plain(item, kind) for item in value)
    if kind == "type" or isinstance(value, dtypes.DType):
        return dtypes.as_dtype(value).name
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "tensor_shape") and hasattr(value, "tensor_content"):
        return tensor_util.MakeNdarray(value)
    if hasattr(value, "unknown_rank") and hasattr(value, "dim"):
        return None if value.unknown_rank else tuple(dim.size for dim in value.dim)
    if hasattr(value, "as_list") and hasattr(value, "rank"):
        return None if value.rank is None else tuple(-1 if n is None else n for n in value.as_list())
    if kind == "func" or hasattr(value, "attr"):
        return getattr(value, "name", value)
    return value

"""Computing one op of TensorFlow again by itself, where no tape, no variable and no random number notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tensorflow.python.eager import backprop, context, execute
from tensorflow.python.framework import constant_op, dtypes, errors_impl, op_def_registry, tensor_shape
from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.record.model import OpEvent
from gradproof.frontends.tensorflow.traced.repeatable import PYTHON_OPS
from gradproof.frontends.tensorflow.unlogged import unlogged
from gradproof.frontends.tensorflow.values import unrecorded
from gradproof.ir.types import Array

_FLOATS = ("float64", "float32", "float16", "bfloat16")
_COMPLEX = {"float64": "complex128", "float32": "complex64"}
_WIDE = ("float64", "float32")  # what differences are taken in; 16 bits are too coarse for them
_NUMBERS = (*_FLOATS, "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
_PLAIN_ATTRS = {"type", "int", "float", "bool", "string", "shape"}
_NEAR = 0.05  # of the largest entry: a wider kernel that is further off computes something else


def kernel_of(event: OpEvent, output: int) -> OpKernel | None:
    """The op of an event as a function; None if running it again could be noticed, or is not a matter of numbers."""
    definition = op_def_registry.get(event.op)
    if definition is None or definition.is_stateful or event.op in PYTHON_OPS:
        return None
    if not has_plain_attrs(definition):
        return None  # it calls a function, or carries a constant
    if event.outputs[output].dtype not in (*_FLOATS, *_COMPLEX.values()):
        return None
    if any(value.dtype not in _NUMBERS or value.array is None for value in event.inputs):
        return None
    return OpKernel(event, output)


@dataclass(frozen=True, eq=False)
class OpKernel:
    """One output of one op that keeps no state, with the attributes it had; see `gradproof.ir.kernel`."""

    event: OpEvent
    output: int

    @cached_property
    def dtype(self) -> str:
        """The widest dtype in which the op has a kernel that computes what was recorded."""
        recorded = np.asarray(self.event.outputs[self.output].array)
        size = float(np.abs(recorded).max(initial=0.0))
        xs = [np.asarray(value.array) for value in self.event.inputs]
        for dtype in _WIDE:
            try:
                found = self._computed(xs, dtype)
            except ValueError:
                continue
            if found.shape == recorded.shape and (np.abs(found - recorded) <= _NEAR * size).all():
                return dtype
        return "float32"

    def __call__(self, *xs: Array) -> Array:
        return self._computed(xs, self.dtype)

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        """The gradient that TensorFlow has for this op; one that a program has registered is not called again."""
        function = _registered(self.event.op)
        if function is None:
            return None
        attrs = self._attrs(self.dtype)
        with unrecorded(), unlogged():
            inputs = self._tensors(xs, self.dtype)
            try:
                outputs = self._run(inputs, attrs)
                upstream = [self._upstream(k, one, gy) for k, one in enumerate(outputs)]
                found = function(backprop._MockOp(attrs, inputs, outputs, self.event.op, ()), *upstream)
            except Exception:  # without a candidate there is nothing to check, which is said by whoever asked
                return None
            results = list(found) if isinstance(found, list | tuple) else [found]
            if any(one is not None and not isinstance(one, tf_ops.EagerTensor) for one in results):
                return None
            return [None if one is None else np.asarray(one._numpy_internal()) for one in results]

    def _computed(self, xs: Sequence[Array], dtype: str) -> Array:
        with unrecorded():
            outputs = self._run(self._tensors(xs, dtype), self._attrs(dtype))
            return np.asarray(outputs[self.output]._numpy_internal())

    def _run(self, inputs: Sequence[Any], attrs: tuple[Any, ...]) -> list[Any]:
        op, n_outputs = self.event.op, len(self.event.outputs)
        try:
            return list(execute.quick_execute(op, n_outputs, list(inputs), attrs, context.context()))
        except (errors_impl.OpError, TypeError) as error:
            raise ValueError(str(error)) from error  # outside what the op accepts: it has no value there

    def _upstream(self, k: int, output: Any, gy: Array) -> Any:
        is_number = output.dtype.is_floating or output.dtype.is_complex
        numbers = gy if k == self.output else np.zeros(output.shape)
        return constant_op.constant(numbers, output.dtype if is_number else dtypes.float32)

    def _tensors(self, xs: Sequence[Array], dtype: str) -> list[Any]:
        wanted = (
            dtype if is_free and value.dtype in _FLOATS else value.dtype
            for value, is_free in zip(self.event.inputs, self._free)
        )
        return [constant_op.constant(np.asarray(x), dtypes.as_dtype(one)) for x, one in zip(xs, wanted)]

    @cached_property
    def _free(self) -> tuple[bool, ...]:
        """Per input, whether an attribute says its dtype."""
        return tuple(self._each_input())

    def _each_input(self) -> Iterator[bool]:
        attrs: Any = self.event.attrs
        for argument in op_def_registry.get(self.event.op).input_arg:
            if argument.type_list_attr:
                yield from (True for _ in attrs[argument.type_list_attr])
            else:
                n = int(attrs[argument.number_attr]) if argument.number_attr else 1
                yield from (bool(argument.type_attr) for _ in range(n))

    def _attrs(self, dtype: str) -> tuple[Any, ...]:
        """The attributes as eager execution takes them, with this dtype in the place of narrower ones."""
        flat: list[Any] = []
        for declared in op_def_registry.get(self.event.op).attr:
            if declared.name in self.event.attrs:
                flat += [declared.name, executable(self.event.attrs[declared.name], declared.type, dtype)]
        return tuple(flat)


RECORDS: tuple[type[Any], ...] = (OpKernel,)
"""What a capture may hold of this framework, all of it data."""


def _item_kind(kind: str) -> str:
    return kind.removeprefix("list(").removesuffix(")")


def has_plain_attrs(definition: Any) -> bool:
    """Whether an op is told nothing but numbers, words, dtypes and shapes: no function, no tensor."""
    return all(_item_kind(attr.type) in _PLAIN_ATTRS for attr in definition.attr)


def executable(value: Any, kind: str, dtype: str | None = None) -> Any:
    """An attribute as eager execution takes it; with a `dtype` in the place of all dtypes of numbers."""
    if kind.startswith("list("):
        return [executable(item, _item_kind(kind), dtype) for item in value or ()]
    if kind == "type":
        wanted = value
        if dtype is not None:
            wanted = dtype if value in _FLOATS else _COMPLEX[dtype] if value in _COMPLEX.values() else value
        return dtypes.as_dtype(wanted).as_datatype_enum
    return tensor_shape.TensorShape(value) if kind == "shape" else value


def _registered(op: str) -> Any:
    """TensorFlow's own gradient function of an op."""
    try:
        function = tf_ops._gradient_registry.lookup(op)
    except LookupError:
        return None
    return function if getattr(function, "__module__", "").startswith("tensorflow.") else None

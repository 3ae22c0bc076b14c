"""What takes the place of the user's variables and tensors while a function is run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op, dtypes
from tensorflow.python.ops import gen_resource_variable_ops, handle_data_util

from gradproof.frontends.tensorflow.eager.remembered import Remembered
from gradproof.frontends.tensorflow.values import read_handle, variable_dtype


def snapshot(args: Iterable[Any]) -> dict[int, Any]:
    """What the variables among the arguments of a function hold now, by the id of the handle.

    Holding the tensor is enough: TensorFlow copies a variable's buffer before it changes it if anybody
    holds it.
    """
    held = {}
    for handle in args:
        tensor = read_handle(handle)
        if tensor is not None:
            held[handle._id] = tensor
    return held


@dataclass(eq=False)
class StandIns:
    """The stand-ins of one call.

    `originals` leads from a stand-in to what it stands for, `first` from the handle of a user's variable to its first
    stand-in, `tensors` from a tensor that is only remembered to one that has its numbers again.
    """

    originals: dict[int, int] = field(default_factory=dict)
    first: dict[int, Any] = field(default_factory=dict)
    tensors: dict[int, Any] = field(default_factory=dict)

    def replace(self, args: Sequence[Any], held: Mapping[int, Any]) -> list[Any]:
        """The same arguments with stand-ins for the variables; other resources stay as they are."""
        for arg in args:
            if arg._id in held and arg._id not in self.first:
                self.first[arg._id] = self._make(arg._id, held[arg._id])
        return [self.first[arg._id] if arg._id in held else self.tensor(arg) for arg in args]

    def tensor(self, thing: Any) -> Any:
        """A tensor that may be given to an op."""
        if not isinstance(thing, Remembered):
            return thing
        if thing._id not in self.tensors:
            self.tensors[thing._id] = made = constant_op.constant(thing.array, thing.dtype)
            self.originals[made._id] = thing._id
        return self.tensors[thing._id]

    def again(self, args: Sequence[Any]) -> list[Any]:
        """A second set of stand-ins that hold what the first hold now."""
        held = {}
        for arg in args:
            if arg is not None and arg._id in self.originals and arg.dtype == dtypes.resource:
                held[arg._id] = gen_resource_variable_ops.read_variable_op(arg, variable_dtype(arg))
        fresh = {i: self._make(self.originals[i], tensor) for i, tensor in held.items()}
        return [arg if arg is None else fresh.get(arg._id, arg) for arg in args]

    def _make(self, original: int, tensor: Any) -> Any:
        handle = make_variable(tensor)
        self.originals[handle._id] = original
        return handle


def make_variable(tensor: Any) -> Any:
    """The handle of a new variable that holds a tensor; nobody else knows it."""
    handle = gen_resource_variable_ops.var_handle_op(
        dtype=tensor.dtype, shape=tensor.shape, shared_name=context.anonymous_name()
    )
    handle_data_util.set_handle_data(handle, handle_data_util.create_handle_data(tensor.shape, tensor.dtype))
    gen_resource_variable_ops.assign_variable_op(handle, tensor)
    return handle

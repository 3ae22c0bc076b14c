"""Which variable a tensor was read from, where TensorFlow does not say.

An op that is given a variable itself (`tf.sin(v)`) reads it inside TensorFlow, without any callback. The
tensor it reads has the variable's own buffer, so that the address tells which variable it was;
assignments give a variable a new buffer, so the addresses are kept with the time from which they hold.
A variable whose rows were gathered or updated singly is copied by every read from then on. Such a read is
told by its numbers, and by being younger than every tensor that the ops before it have met.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import gen_array_ops, gen_resource_variable_ops, resource_variable_ops
from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetShouldRecordBackprop as should_record

from gradproof.frontends.tensorflow.patches import Patch, wrap
from gradproof.frontends.tensorflow.recorder import RawEvent, numbers
from gradproof.frontends.tensorflow.values import read_handle, unrecorded


@dataclass(eq=False)
class Variables:
    """The variables of the program, and the addresses of their buffers over time."""

    known: dict[int, ReferenceType[Any]] = field(default_factory=dict)
    history: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    owners: dict[int, int] = field(default_factory=dict)  # address -> the handle last seen there
    copied: dict[int, Any] = field(default_factory=dict)  # handles of variables that every read copies
    unknown_to_tapes: set[int] = field(default_factory=set)  # tensors, since there are such variables

    def patches(self) -> list[Patch]:
        """Follow the variables from now on; those that exist already are found by the garbage collector."""
        base = resource_variable_ops.BaseResourceVariable
        for thing in gc.get_objects():
            if issubclass(type(thing), base):
                self._add(thing)
        return [wrap(base, "__init__", self._init)]

    def _init(self, original: Any, variable: Any, *args: Any, **kwargs: Any) -> None:
        original(variable, *args, **kwargs)
        self._add(variable)

    def _add(self, variable: Any) -> None:
        """By address, since variables refuse to be hashed; the entry goes with the variable."""
        key = id(variable)
        self.known[key] = ref(variable, lambda _: self.known.pop(key, None))

    def by_handle(self, handle: int) -> Any:
        """The variable with a given handle, None if it is gone."""
        for reference in list(self.known.values()):
            variable = reference()
            own = getattr(variable, "_handle", None)
            if own is not None and own._id == handle:
                return variable
        return None

    def refresh(self) -> None:
        """Look where every variable is now: at the start of a record, when nothing was heard before."""
        alive = set()
        self.unknown_to_tapes.clear()
        for reference in list(self.known.values()):
            variable = reference()
            handle = getattr(variable, "_handle", None)
            if variable is not None and handle is not None and hasattr(handle, "_numpy_internal"):
                alive.add(handle._id)
                self._look(handle)
        for gone in self.history.keys() - alive:
            del self.history[gone]
            self.copied.pop(gone, None)

    def on_event(self, event: RawEvent) -> None:
        """An op that changed a variable, or read single rows of it."""
        if not event.inputs or event.inputs[0].dtype != dtypes.resource:
            return
        if not event.outputs:
            self._look(event.inputs[0])
        elif event.op.startswith("ResourceGather"):
            self.copied[event.inputs[0]._id] = event.inputs[0]

    def note_operands(self, event: RawEvent) -> None:
        """What the tapes know of the operands of an op, asked where reads are told by their numbers only."""
        if self.copied and event.tapes:
            self.unknown_to_tapes.update(t._id for t in event.inputs if not should_record([t]))

    def _look(self, handle: Any) -> None:
        tensor = read_handle(handle)
        address = None if tensor is None else address_of(tensor)
        if address is None:
            return
        if address_of(read_handle(handle)) != address:
            self.copied[handle._id] = handle
        elif self._is_shared(handle._id, address) or self._may_be_cached(handle._id, tensor, address):
            tensor = give_own_buffer(handle, tensor)
            address = address_of(tensor)
            assert address is not None
        self.owners[address] = handle._id
        seen = self.history.setdefault(handle._id, [])
        if not seen or seen[-1][1] != address:
            # Tensors are numbered as they are made. One that is older than this look is not a read of the variable,
            # though it may be what was assigned to it and share its buffer.
            seen.append((next(numbers), address, tensor._id))

    def _is_shared(self, id: int, address: int) -> bool:
        """Whether another variable has the same buffer, as two that were made from one number do."""
        other = self.owners.get(address, id)
        return other != id and other in self.history and self.history[other][-1][1] == address

    def _may_be_cached(self, id: int, tensor: Any, address: int) -> bool:
        """Whether a buffer is new and holds one number: TensorFlow gives every `2.0` of a program the same buffer."""
        seen = self.history.get(id)
        return tensor.shape.rank == 0 and (not seen or seen[-1][1] != address)

    def sources_of(self, tensor: Any, index: int, is_fresh: bool) -> list[int]:
        """The handles of the variables that a tensor may have been read from before some event, mostly one or none."""
        address = address_of(tensor)
        if address is None:
            return []
        found: tuple[int, int] | None = None  # when the buffer became the variable's, and its handle
        for handle, seen in self.history.items():
            before = [entry for entry in seen if entry[0] <= index]
            if before and before[-1][1] == address and tensor._id > before[-1][2]:
                # A variable that is gone leaves its buffer to the next one: the latest owner counts.
                found = max(found or (0, 0), (before[-1][0], handle))
        if found is not None:
            return [found[1]]
        return list(self._equal_copies(tensor)) if is_fresh else []

    def _equal_copies(self, tensor: Any) -> Iterator[int]:
        if tensor._id in self.unknown_to_tapes:
            return  # a constant with the same numbers: a tape knows what was read from a variable it watches
        for id, handle in self.copied.items():
            held = read_handle(handle)
            if held is None or held.dtype != tensor.dtype or held.shape != tensor.shape:
                continue
            if held._numpy_internal().tobytes() == tensor._numpy_internal().tobytes():
                yield id


def give_own_buffer(handle: Any, tensor: Any) -> Any:
    """Move a variable to a buffer of its own, with the same bits in it; the tensor that has them.

    TensorFlow lets variables share the buffer of the tensor they were made from, and of equal Python numbers, until one
    of them changes, so that this is no more than what it would do at the next assignment.
    """
    with unrecorded():
        copy = gen_array_ops.deep_copy(tensor)
        gen_resource_variable_ops.assign_variable_op(handle, copy)
    return copy


def address_of(tensor: Any) -> int | None:
    """Where a tensor's numbers lie; None if that cannot be told."""
    if tensor.dtype in (dtypes.resource, dtypes.variant, dtypes.string) or not tensor._num_elements():
        return None
    try:
        return int(np.asarray(memoryview(tensor)).ctypes.data)
    except (ValueError, TypeError, BufferError):  # types that Python's buffers do not know, such as bfloat16
        with unrecorded():  # of one axis, since a single number is given as a copy; it keeps the buffer
            flat = gen_array_ops.reshape(tensor, [-1])
        return int(flat._numpy_internal().ctypes.data)

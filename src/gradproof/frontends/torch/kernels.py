"""Computing one op of PyTorch again by itself, where no recorder, no graph and no random number notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from gradproof.frontends.after.sandbox import sandbox
from gradproof.frontends.record.model import OpEvent
from gradproof.frontends.torch.record.arrays import array_of, tensor_of
from gradproof.frontends.torch.record.mode import tensors_in, writes
from gradproof.frontends.torch.record.observation import unobserved
from gradproof.frontends.torch.record.outside import FUNCTION, forward_again, may_be_differentiated_again
from gradproof.frontends.torch.record.recorder import Ref
from gradproof.ir import types
from gradproof.ir.types import Array

_NEAR = 0.05  # of the largest entry: a kernel that is further off computes something else
_FLOATS = ("float64", "float32", "float16", "bfloat16")


def kernel_of(event: OpEvent, output: int) -> TorchKernel | None:
    """The op of an event as a function; None if running it again could be noticed, or is not a matter of numbers.

    An op of the program's own is its code, which may have effects: it is not run again. The forward of a function is
    where it was shown to have none.
    """
    function = _function(event.op)
    if FUNCTION not in event.attrs and not _is_pure(function):
        return None
    known = all(types.is_discrete(value.dtype) or value.dtype in _FLOATS for value in event.inputs)
    if not known or event.outputs[output].dtype not in _FLOATS or "args" not in event.attrs:
        return None
    return TorchKernel(event, output)


def _is_pure(function: Any) -> bool:
    return function is not None and not (
        writes(function)[0] or torch.Tag.nondeterministic_seeded in function.tags
    )


def _function(op: str) -> Any:
    space, _, rest = op.partition(".")
    packet, _, overload = rest.partition(".")
    if space != "aten" or not hasattr(torch.ops.aten, packet):
        return None
    return getattr(getattr(torch.ops.aten, packet), overload or "default", None)


@dataclass(frozen=True, eq=False)
class TorchKernel:
    """One output of one op of PyTorch's, called as it was; see `gradproof.ir.kernel`."""

    event: OpEvent
    output: int

    @property
    def dtype(self) -> str:
        return "float64"

    def __call__(self, *xs: Array) -> Array:
        if not self._is_same:
            raise ValueError("in float64 the op computes something else")
        return self._computed(xs)

    @cached_property
    def _is_same(self) -> bool:
        """Whether it gives what was recorded, but for the digits: its inputs may be more than their numbers."""
        inputs, recorded = [value.array for value in self.event.inputs], self.event.outputs[self.output].array
        if recorded is None or any(array is None for array in inputs):
            return False
        try:
            found, wide = self._computed(inputs), np.asarray(recorded, np.float64)  # type: ignore[arg-type]
        except ValueError:
            return False
        size = float(np.abs(wide).max(initial=0.0))
        return found.shape == wide.shape and bool((np.abs(found - wide) <= _NEAR * size).all())

    def _computed(self, xs: Sequence[Array]) -> Array:
        with unobserved(), torch.no_grad():
            return array_of(self._outputs(self._tensors(xs))[self.output])

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        """What autograd has for it, in float64."""
        with unobserved(), torch.enable_grad():
            inputs = [x.requires_grad_() if x.is_floating_point() else x for x in self._tensors(xs)]
            leaves = [x for x in inputs if x.requires_grad]
            try:
                y = self._outputs(inputs)[self.output]
                found = torch.autograd.grad(y, leaves, tensor_of(gy).to(y.dtype), allow_unused=True)
            except (RuntimeError, ValueError):  # without a candidate there is nothing to check
                return None
            by_leaf = {id(leaf): one for leaf, one in zip(leaves, found)}
            results = [by_leaf.get(id(x)) for x in inputs]
            return [None if one is None else array_of(one) for one in results]

    def _tensors(self, xs: Sequence[Array]) -> list[Any]:
        return [tensor_of(x, torch.float64 if np.asarray(x).dtype.kind == "f" else None) for x in xs]

    def _outputs(self, tensors: Sequence[Any]) -> list[Any]:
        args, kwargs = (_filled(self.event.attrs[name], tensors) for name in ("args", "kwargs"))
        try:
            if FUNCTION in self.event.attrs:
                return [self._of_function(args, any(one.requires_grad for one in tensors))]
            return list(tensors_in(_function(self.event.op)(*args, **kwargs)))
        except Exception as error:
            raise ValueError(str(error)) from error  # outside what the op accepts: it has no value there

    def _of_function(self, args: Sequence[Any], has_graph: bool) -> Any:
        """A result of a function of the user's; with a graph by its own rule, where that has no effects either."""
        function: Any = self.event.attrs[FUNCTION]
        if has_graph and not may_be_differentiated_again(function):
            raise ValueError("its rule may have effects")
        with sandbox():
            made = function.apply(*args) if has_graph else forward_again(function, *args)
        return list(tensors_in(made))[int(str(self.event.attrs["output"]))]


RECORDS: tuple[type[Any], ...] = (TorchKernel, Ref)
"""What a capture may hold of this framework, all of it data."""


def _filled(structure: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(structure, Ref):
        return tensors[structure.k]
    if isinstance(structure, tuple):
        return [_filled(item, tensors) for item in structure]
    if isinstance(structure, dict):
        return {key: _filled(item, tensors) for key, item in structure.items()}
    return structure

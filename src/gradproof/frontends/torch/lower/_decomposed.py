"""Ops without a lowering of their own: PyTorch's decompositions, or ours, say what they are in terms of others.

A decomposition is run on the numbers that the op had, and each op in it is lowered as if the program had called it. It
counts only if it gives what the kernel returned: it may describe another version of the op, or draw random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gradproof.engine.trace import Traced
from gradproof.frontends.record.model import Value
from gradproof.frontends.torch.lower._resampled import OURS
from gradproof.frontends.torch.lower._transposed import confirmed
from gradproof.frontends.torch.record.arrays import array_of, tensor_of
from gradproof.frontends.torch.record.mode import referred, tensors_in, writes
from gradproof.frontends.torch.record.recorder import Ref

MOST_OPS = 2_000  # of one decomposition
Get = Callable[[str], Callable[..., Any] | None]


@dataclass
class DecomposedOp:
    """An op of a decomposition, as much of an event as lowerings look at."""

    op: str
    attrs: dict[str, Any]
    outputs: tuple[Value, ...]
    phase: str = "forward"
    inputs: tuple[Value, ...] = field(default=())


def decomposition_of(op: str) -> Callable[..., Any] | None:
    """What runs in the place of an op; None where PyTorch has nothing for it."""
    space, _, rest = op.partition(".")
    packet, _, overload = rest.partition(".")
    if space not in ("aten", "prims") or not hasattr(getattr(torch.ops, space), packet):
        return None
    function = getattr(getattr(getattr(torch.ops, space), packet), overload or "default", None)
    known: Callable[..., Any] | None = OURS.get(packet) or torch._decomp.decomposition_table.get(function)
    if known is None and function is not None and function.has_kernel_for_dispatch_key(_IMPLICIT):
        known = function.decompose
    return known


_IMPLICIT = torch._C.DispatchKey.CompositeImplicitAutograd


def decomposed(get: Get, m: Any, e: Any, xs: Sequence[Any]) -> tuple[Any, ...]:
    """The results of an event by the ops it decomposes into; NotImplementedError where one has no meaning."""
    function = decomposition_of(e.op)
    if function is None:
        raise NotImplementedError(e.op)
    tensors = [tensor_of(x.value) for x in xs]
    tracer = _Tracer(get, m, e.op, {id(t): (t, x) for t, x in zip(tensors, xs)})
    args, kwargs = _with(e.attrs["args"], tensors), _with(e.attrs["kwargs"], tensors)
    with torch.no_grad(), tracer:
        result = function(*args, **{k: v for k, v in kwargs.items() if k != "out"})
    found = [tracer.traced(tensor) for tensor in tensors_in(result)]
    return confirmed(e, found)


def _with(structure: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(structure, Ref):
        return tensors[structure.k]
    if isinstance(structure, tuple):
        return [_with(item, tensors) for item in structure]
    if isinstance(structure, dict):
        return {key: _with(item, tensors) for key, item in structure.items()}
    return structure


class _Tracer(TorchDispatchMode):  # type: ignore[misc]
    """Lowers every op that runs."""

    def __init__(self, get: Get, m: Any, op: str, known: dict[int, tuple[Any, Any]]) -> None:
        super().__init__()
        self._get, self._m, self._op, self._known = get, m, op, known
        self._count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def traced(self, tensor: Any) -> Any:
        known = self._known.get(id(tensor))
        if known is None or known[0] is not tensor:
            known = self._known[id(tensor)] = tensor, self._m.constant(array_of(tensor))
        return known[1]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self._count += 1
        if writes(func)[0] or self._count > MOST_OPS:
            raise NotImplementedError(f"{func} in {self._op}")
        tensors: list[Any] = []
        attrs = {"args": referred(args, tensors), "kwargs": referred(kwargs, tensors)}
        if "as_strided" in str(func) and tensors:
            attrs["layouts"] = {0: (tensors[0].storage_offset(), tensors[0].stride())}
        result = func(*args, **kwargs)
        outputs = list(tensors_in(result))
        for tensor, traced in zip(outputs, self._lowered(str(func), attrs, tensors, outputs), strict=True):
            self._known[id(tensor)] = tensor, traced
        return result

    def _lowered(self, op: str, attrs: Any, tensors: list[Any], outputs: list[Any]) -> Sequence[Any]:
        xs = [self.traced(tensor) for tensor in tensors]
        arrays = [array_of(tensor) for tensor in outputs]
        if all(self._m.is_constant(x) and x.value.dtype.kind in "biu" for x in xs):
            return [self._m.constant(array) for array in arrays]
        values = tuple(_value(array) for array in arrays)
        lowering = None if op == self._op else self._get(op)
        if lowering is None:
            raise NotImplementedError(f"{op} in {self._op}")
        found = lowering(self._m, DecomposedOp(op, attrs, values), *xs)
        results = list(found) if isinstance(found, tuple) else [found]
        results += [None] * (len(arrays) - len(results))
        return [self._fitted(one, array) for one, array in zip(results, arrays)]

    def _fitted(self, result: Any, array: np.ndarray[Any, Any]) -> Any:
        if not isinstance(result, Traced):
            raise NotImplementedError(f"a result without a meaning in {self._op}")
        if tuple(result.shape) != array.shape:
            raise NotImplementedError(f"a result of another shape in {self._op}")
        if result.value.dtype.kind in "fc" and array.dtype.kind in "biu":
            raise NotImplementedError(f"a result of another kind in {self._op}")
        return result


def _value(array: np.ndarray[Any, Any]) -> Value:
    return Value(
        0, "bfloat16" if "bfloat16" in str(array.dtype) else str(array.dtype), array.shape, lambda: array
    )

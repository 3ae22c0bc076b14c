"""Where the entries of views stand in the memory that they share."""

from __future__ import annotations

from typing import Any

import numpy as np


def places(part: Any, whole: Any) -> np.ndarray[Any, Any]:
    """Where the entries of one view stand in another of the same memory, counted in its own order."""
    if is_dense(whole):
        order = np.empty(whole.numel(), np.int64)
        _seen_as(whole, order)[...] = np.arange(whole.numel()).reshape(tuple(whole.shape))
        return np.array(_seen_as(part, order[part.storage_offset() - whole.storage_offset() :]))
    wanted, there = addresses(part), addresses(whole).reshape(-1)
    order = np.argsort(there, kind="stable")
    found = np.searchsorted(there[order], wanted.reshape(-1))
    return np.asarray(order[found].reshape(wanted.shape), np.int64)


def _seen_as(tensor: Any, memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers in memory, laid out as a tensor is."""
    strides = tuple(stride * memory.itemsize for stride in tensor.stride())
    return np.lib.stride_tricks.as_strided(memory, tuple(tensor.shape), strides)


def is_dense(tensor: Any) -> bool:
    """Whether its entries stand side by side, each once, in whatever order of its axes."""
    next_stride = 1
    for stride, n in sorted((stride, n) for n, stride in zip(tensor.shape, tensor.stride()) if n != 1):
        if stride != next_stride:
            return False
        next_stride *= n
    return bool(tensor.numel())


def holds(whole: Any, part: Any) -> bool:
    """Whether one view of a piece of memory has all entries of another."""
    if not is_dense(whole):
        return bool(np.isin(addresses(part), addresses(whole)).all())
    first, start = part.storage_offset(), whole.storage_offset()
    last = first + sum((n - 1) * stride for n, stride in zip(part.shape, part.stride()))
    return not part.numel() or (start <= first and last < start + whole.numel())


def addresses(tensor: Any) -> np.ndarray[Any, Any]:
    address = np.asarray(tensor.storage_offset(), np.int64)
    for axis, (n, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        steps = np.arange(n, dtype=np.int64) * stride
        address = address + steps.reshape((n,) + (1,) * (tensor.dim() - 1 - axis))
    return np.broadcast_to(address, tuple(tensor.shape))

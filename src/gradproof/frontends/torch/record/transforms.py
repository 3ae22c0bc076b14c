"""`torch.func`: tensors that wrap others, and whether a derivative is being taken of what runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch._C import _functorch as functorch
from torch._functorch import eager_transforms
from torch.autograd import functional

from gradproof.frontends.record.patches import Patch, wrap

IN_VMAP = "it was computed inside `torch.vmap`, for many examples at once, where single gradients are not told apart"


def plain(tensor: Any) -> Any:
    """The tensor that holds the numbers."""
    while isinstance(tensor, torch.Tensor) and functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


_FILLING = frozenset({eager_transforms._autograd_grad.__code__, functional._autograd_grad.__code__})


def fills_zeros(caller: FrameType) -> bool:
    """Whether `autograd.grad`, or who has called it, puts zeros where the engine returns nothing."""
    behind = caller.f_back
    return bool(caller.f_locals.get("materialize_grads")) or (
        behind is not None and behind.f_code in _FILLING
    )


def zeros_for(tensor: Any) -> Any:
    return torch.zeros_like(plain(tensor))


def are_batched(tensors: Iterable[Any]) -> bool:
    """Whether one of them stands for the examples of a `vmap`."""
    for tensor in tensors:
        while isinstance(tensor, torch.Tensor) and functorch.is_functorch_wrapped_tensor(tensor):
            if functorch.is_batchedtensor(tensor):
                return True
            tensor = functorch.get_unwrapped(tensor)
    return False


def batch_axes(tensor: Any) -> dict[int, int]:
    """For every `vmap` around a tensor, by its level, the axis of its examples in the tensor that holds the numbers."""
    shown = []  # outermost first; each axis is counted among those that the tensor below shows
    while isinstance(tensor, torch.Tensor) and functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.is_batchedtensor(tensor):
            shown.append((int(functorch.maybe_get_level(tensor)), int(functorch.maybe_get_bdim(tensor))))
        tensor = functorch.get_unwrapped(tensor)
    axes: dict[int, int] = {}
    for level, axis in reversed(shown):
        for hidden in sorted(axes.values()):
            axis += hidden <= axis
        axes[level] = axis
    return axes


def batch_place(tensor: Any) -> int | None:
    """The axis of the examples in the tensor that holds the numbers; None where there is none, or more than one."""
    axes = batch_axes(tensor)
    return next(iter(axes.values())) if len(axes) == 1 else None


def legacy_patches(entered: Callable[[int], None]) -> list[Patch]:
    """Told of the older `vmap`, which `is_grads_batched` and `vectorize` use: its tensors cannot be looked into."""

    def begins(original: Any) -> Any:
        entered(1)
        return original()

    def ends(original: Any) -> Any:
        entered(-1)
        return original()

    return [
        wrap(torch._C, "_vmapmode_increment_nesting", begins),
        wrap(torch._C, "_vmapmode_decrement_nesting", ends),
    ]


def patches(entered: Callable[[int], None]) -> list[Patch]:
    """Told of every derivative of `torch.func` that begins or ends: below it no tensor says that it requires one."""

    def begins(original: Any, *args: Any) -> Any:
        level = original(*args)
        entered(1)
        return level

    def ends(original: Any, *args: Any) -> Any:
        entered(-1)
        return original(*args)

    return [
        wrap(eager_transforms, "_grad_increment_nesting", begins),
        wrap(eager_transforms, "_grad_decrement_nesting", ends),
    ]

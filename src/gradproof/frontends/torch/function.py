"""Checks of PyTorch functions: calls them with leaves of their own and hands on what the engine returned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from gradproof.errors import InvalidInput
from gradproof.frontends.assemble.captures import to_captures
from gradproof.frontends.check.jacobian import alike, as_heard, named, of_target, whole
from gradproof.frontends.check.purity import Impurity, Trial, impurity
from gradproof.frontends.check.request import Checked, Request, called, checked_input, checked_result
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.sites import always
from gradproof.frontends.torch.record.arrays import array_of
from gradproof.frontends.torch.record.observation import observe, unobserved
from gradproof.ir.capture import Capture

FRAMEWORK = "torch"


@dataclass(frozen=True, eq=False)
class TorchSource:
    """A leaf that is differentiated for, under the name the function has for it."""

    name: str
    tensor: Any

    @property
    def array(self) -> np.ndarray[Any, Any]:
        return array_of(self.tensor)


def check(request: Request) -> Checked:
    """Call the function twice as it is and once for its gradient; nothing is judged here."""
    if request.gradient is not None:
        raise InvalidInput(
            "gradient= is for NumPy functions; in PyTorch write the rule with `torch.autograd.Function`, "
            "and check() checks the rule wherever it is used"
        )
    with unobserved(), torch.enable_grad():
        found: list[TorchSource] = []
        args = tuple(
            _own(name, value, found)
            for name, value in zip(request.argument_names, request.args, strict=False)
        )
        named = {key: _own(key, value, found) for key, value in request.kwargs.items()}
        found += _parameters(request.function)
        return _checked(replace(request, args=args, kwargs=named), _known(request, found))


def _known(request: Request, sources: list[TorchSource]) -> list[TorchSource]:
    if not sources:
        raise InvalidInput(
            f"check() needs at least one argument of real numbers for `{request.name}`: a tensor of floating point "
            "numbers or a module with parameters"
        )
    for source in sources:
        checked_input(source.array, source.name)
    return sources


def _own(name: str, value: Any, found: list[TorchSource]) -> Any:
    """An argument with leaves of ours in the place of the user's tensors; a module stands for its parameters."""
    if isinstance(value, torch.nn.Module):
        found += _parameters(value)
        return value
    if isinstance(value, Mapping):
        return {key: _own(f"{name}[{key!r}]", item, found) for key, item in value.items()}
    if isinstance(value, list | tuple):
        fields = [f".{field}" for field in getattr(value, "_fields", ())]  # of a named tuple
        places = fields or [f"[{k}]" for k in range(len(value))]
        items = [_own(name + place, item, found) for place, item in zip(places, value)]
        return type(value)(*items) if fields else type(value)(items)
    if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
        leaf = value.detach().clone().requires_grad_()
        found.append(TorchSource(name, leaf))
        return leaf
    return value


def _parameters(value: Any) -> list[TorchSource]:
    if not isinstance(value, torch.nn.Module):
        return []
    return [TorchSource(path, tensor) for path, tensor in value.named_parameters() if tensor.requires_grad]


def _checked(request: Request, sources: Sequence[TorchSource]) -> Checked:
    names = tuple(source.name for source in sources)
    impure, result = _tried(request, sources)
    if impure is not None and impure.changed:
        return Checked(FRAMEWORK, names=names, impurity=impure)
    checked_result(result, request, request.output == "each" or request.order == 2)
    return Checked(FRAMEWORK, tuple(_captures(request, sources)), names, impure)


def _tried(request: Request, sources: Sequence[TorchSource]) -> tuple[Impurity | None, Any]:
    def run() -> Trial:
        before = [source.array for source in sources]
        value = called(request.function, f"`{request.name}`", request.args, request.kwargs)
        value = request.selected(value)
        numbers = array_of(value) if isinstance(value, torch.Tensor) else value
        numbers = np.array(checked_result(numbers, request, True))
        return Trial(numbers, before, [source.array for source in sources])

    return impurity(run, [source.name for source in sources])


def _captures(request: Request, sources: Sequence[TorchSource], alone: bool = False) -> list[Capture]:
    """The gradients that were asked for. Of a Jacobian all rows are captured if each is to be looked at `alone`."""
    calls: list[GradientCall] = []
    leaves = [source.tensor for source in sources]
    found: list[Capture] = []
    with observe(calls.append, always) as observation:
        observation.recorder.is_check = True
        for k, (name, value, shape) in enumerate(list(_targets(request, sources))):
            are_alike = not alone and math.prod(shape) > 1 and value.requires_grad
            asked = [(value, _unit(value, 0))] if are_alike else [(one, None) for one in _entries(value)]
            own = []
            for entry, weight in asked:
                n_before = len(
                    calls
                )  # gradients that the function computed inside itself are not what was asked for
                _ask(entry, leaves, weight)
                own += [named(call, [source.name for source in sources]) for call in calls[n_before:]]
            with observation.recorder.silence():
                if shape == ():
                    found += [of_target(capture, name) for call in own[:1] for capture in to_captures(call)]
                    continue
                rows = [of_target(as_heard(call), name) for call in own]
                if are_alike:
                    each = partial(_each_row, request, sources, k)
                    found.append(alike(rows[0], _numbers(value, leaves), shape, each))
                else:
                    found.append(whole(rows, name, shape))
    return found


def _each_row(request: Request, sources: Sequence[TorchSource], k: int) -> Capture:
    with unobserved(), torch.enable_grad():
        return _captures(request, sources, alone=True)[k]


def _unit(value: Any, place: int) -> Any:
    weights = torch.zeros(value.numel(), dtype=value.dtype, device=value.device)
    weights[place] = 1
    return weights.reshape(value.shape)


def _numbers(value: Any, leaves: Sequence[Any]) -> list[np.ndarray[Any, Any] | None]:
    """All rows of the Jacobian, by source; None where a row has no gradient."""
    rows: list[list[Any]] = [[] for _ in leaves]
    for place in range(value.numel()):
        for own, found in zip(rows, _ask(value, leaves, _unit(value, place))):
            own.append(None if found is None else array_of(found))
    return [None if any(one is None for one in own) else np.stack(own) for own in rows]


def _ask(entry: Any, leaves: Sequence[Any], weight: Any = None) -> tuple[Any, ...]:
    """A target without a graph has no gradient, and the report says why."""
    try:
        return tuple(torch.autograd.grad(entry, leaves, weight, retain_graph=True, allow_unused=True))
    except RuntimeError:
        if entry.requires_grad:
            raise
        return (None,) * len(leaves)


def _targets(request: Request, sources: Sequence[TorchSource]) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    """What is differentiated, and of what shape: the result, or, for the second order, each first derivative."""
    value = _result(request)
    if request.order == 1:
        yield request.name, value, tuple(value.shape) if request.output == "each" else ()
        return
    leaves = [source.tensor for source in sources]
    firsts = torch.autograd.grad(value.sum(), leaves, create_graph=True, allow_unused=True)
    for source, gradient in zip(sources, firsts):
        if gradient is not None and gradient.requires_grad:
            yield f"(d {request.name} / d {source.name})", gradient, tuple(gradient.shape)


def _result(request: Request) -> Any:
    value = called(request.function, f"`{request.name}` for its gradient", request.args, request.kwargs)
    value = request.selected(value)
    return value if isinstance(value, torch.Tensor) else torch.as_tensor(value)


def _entries(value: Any) -> list[Any]:
    """The entries as tensors of their own, taken out while the ops are recorded."""
    return list(value.reshape(-1).unbind()) if value.dim() else [value]

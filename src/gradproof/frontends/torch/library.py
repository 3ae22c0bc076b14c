"""PyTorch as a sweep sees it: the ops and sample inputs of its own op database."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from gradproof.errors import InvalidInput
from gradproof.frontends.library.model import (
    DIRECTIONS,
    FIRST,
    Entry,
    LibraryOp,
    OpCall,
    Part,
    SweptLibrary,
    at,
    named,
    parts_of,
)
from gradproof.frontends.library.written import numbers_text
from gradproof.ir.types import Array

DATABASE = "torch.testing._internal.common_methods_invocations"
_SPECIAL = {math.inf: "float('inf')", -math.inf: "float('-inf')"}

_MASKED = tuple(
    f"torch.masked.{name}" for name in ("cumprod", "cumsum", "log_softmax", "normalize", "softmax", "softmin")
)


class NoText(Exception):
    """An argument that cannot be written in a script."""


def library() -> SweptLibrary:
    return SweptLibrary(
        framework="torch",
        header=("import torch",),
        ops=_ops,
        array_text=array_text,
        constant=constant,
        total="torch.sum({})",
        real="torch.real({})",
        parts=_parts,
        gradient=_gradient,
        slope=_slope,
        modes={"forward": _forward},
        mode_lines={"forward": _forward_lines},
    )


def database() -> list[Any]:
    """The entries of PyTorch's own op database."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(importlib.import_module(DATABASE).op_db)
    except ImportError as error:
        raise InvalidInput(
            f"PyTorch's own samples could not be loaded: {error}\n  they need the package expecttest: "
            "pip install expecttest"
        ) from error


def _ops() -> list[LibraryOp]:
    found: dict[str, list[Any]] = {}
    for entry in database():
        path = _path(entry.name)
        if entry.supports_autograd and path is not None:
            found.setdefault(path, []).append(entry)
    return [LibraryOp(path, _sampler(path, entries)) for path, entries in sorted(found.items())]


def _path(name: str) -> str | None:
    """How programs write it; None for what is not meant for them."""
    if any(part.startswith("_") and not part.endswith("__") for part in name.split(".")):
        return None
    for root, prefix in ((torch, "torch"), (torch.Tensor, "torch.Tensor")):
        value: Any = root
        for part in name.split("."):
            value = getattr(value, part, None)
        if callable(value):
            return f"{prefix}.{name}"
    return None


def _sampler(path: str, entries: Sequence[Any]) -> Callable[[str], Iterator[OpCall]]:
    def samples(dtype: str) -> Iterator[OpCall]:
        torch.manual_seed(0)
        np.random.seed(0)  # the op database draws from it
        for entry in entries:
            if getattr(torch, dtype) not in entry.supported_backward_dtypes("cpu"):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                drawn = list(entry.sample_inputs("cpu", getattr(torch, dtype), requires_grad=False))
            for one in drawn:
                if is_left_open(path, one.args, one.kwargs):
                    continue
                try:
                    yield _sample(path, (one.input, *one.args), one.kwargs)
                except NoText:
                    continue

    return samples


def is_left_open(path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the documentation itself says that a part of the result is not defined."""
    if path in _MASKED:  # at the places that are masked out
        mask = kwargs.get("mask")
        return mask is not None and not bool(mask.all())
    if not path.startswith("torch.nn.functional.max_unpool"):
        return False
    axes = int(path[-2])  # of an image; those before it are images of their own
    places = args[0].reshape(-1, math.prod(args[0].shape[-axes:]))
    return any(len(row.unique()) < len(row) for row in places)  # several entries go to one place


def _sample(path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OpCall:
    arrays: dict[str, Array] = {}
    texts = [_text(value, arrays) for value in args]
    texts += [f"{key}={_text(value, arrays)}" for key, value in kwargs.items()]
    return OpCall(path, f"{path}({', '.join(texts)})", arrays, tuple(arrays))


def _text(value: Any, arrays: dict[str, Array]) -> str:
    """An argument as source; real tensors get a name and are put into `arrays`."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_complex() or value.is_quantized:
            raise NoText
        if not value.is_floating_point():
            return _plain(value)
        name = named(len(arrays))
        arrays[name] = value.detach().numpy().copy()
        return name
    if isinstance(value, torch.Size):
        return repr(tuple(value))
    if isinstance(value, list | tuple):
        items = [_text(item, arrays) for item in value]
        inside = ", ".join(items)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(items) == 1 else ''})"
    if isinstance(value, float) and value in _SPECIAL:
        return _SPECIAL[value]
    if value is None or isinstance(
        value, bool | int | float | str | slice | torch.dtype | torch.memory_format
    ):
        return repr(value)
    raise NoText


def _plain(value: Any) -> str:
    dtype = "" if value.dtype in (torch.bool, torch.int64) else f", dtype={value.dtype}"
    return f"torch.tensor({value.tolist()!r}{dtype})"


def constant(array: Array) -> Any:
    """A tensor of the same dtype, also of one that NumPy does not have of its own."""
    if array.dtype.kind == "V":
        return torch.as_tensor(array.astype(np.float32)).to(getattr(torch, array.dtype.name))
    return torch.as_tensor(array)


def array_text(array: Array) -> str:
    """The source of a tensor with exactly these numbers."""
    if array.size == 0:
        return f"torch.zeros({array.shape!r}, dtype=torch.{array.dtype})"
    return f"torch.tensor({numbers_text(array)}, dtype=torch.{array.dtype})"


def _parts(result: Any) -> list[Part]:
    return parts_of(result, _is_number, _part)


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.layout is torch.strided
        and (value.is_floating_point() or value.is_complex())
    )


def _part(pick: str, value: Any) -> Part:
    return Part(pick, tuple(value.shape), str(value.dtype).removeprefix("torch."), value.is_complex())


def _gradient(names: Sequence[str], wrt: str, entry: Entry | None) -> list[str]:
    """Where there is none PyTorch would refuse to be asked for it."""
    lines = [f"{wrt}.requires_grad_()", f"target = f({', '.join(names)})"]
    if entry is None:
        return [
            *lines,
            f"grads = torch.autograd.grad(target, {wrt}, allow_unused=True) if target.requires_grad else [None]",
            "print(grads[0])",
        ]
    return [*lines, f"print(torch.autograd.grad(target, {wrt})[0]{at(entry)}.item())"]


def _slope(names: Sequence[str]) -> list[str]:
    return [f"return torch.sum(torch.func.grad({FIRST})({', '.join(names)}) * {DIRECTIONS})"]


def _forward(
    function: Callable[..., Any], args: Sequence[Any], place: int, entries: Sequence[Entry]
) -> list[float]:
    """Forward mode, one direction per entry."""

    def moved(x: Any) -> Any:
        return function(*args[:place], x, *args[place + 1 :])

    found = []
    for entry in entries:
        unit = torch.zeros_like(args[place])
        unit[entry] = 1.0
        found.append(torch.func.jvp(moved, (args[place],), (unit,))[1].item())
    return found


def _forward_lines(names: Sequence[str], wrt: str, entry: Entry) -> list[str]:
    return [
        f"unit = torch.zeros_like({wrt})",
        f"unit[{', '.join(map(str, entry)) or '()'}] = 1.0",
        f"print(torch.func.jvp(lambda {wrt}: f({', '.join(names)}), ({wrt},), (unit,))[1].item())",
    ]

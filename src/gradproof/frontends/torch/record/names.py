"""What the user calls tensors: local and global names, places in lists, parameters of modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

import torch

from gradproof.frontends.record.local_names import local_names
from gradproof.frontends.record.source import is_users

MOST_FRAMES = 16
MOST_ITEMS = 1_000  # of a list or mapping that are looked into
_DEPTH = 3


@dataclass(frozen=True, eq=False)
class Named:
    """A tensor under its name; `path` is that of a parameter beginning with the module, or the same."""

    tensor: Any
    name: str
    path: str


def named_in(frame: FrameType | None) -> dict[int, Named]:
    """Tensors by their id: the innermost frame's own names first, parameters by their path."""
    found: dict[int, Named] = {}
    modules: dict[int, tuple[str, Any]] = {}
    for scope in _scopes(frame):
        for name, value in list(scope.items()):
            if not name.startswith("__") and not isinstance(value, ModuleType | type):
                for tensor, path in _tensors(value, name, modules, 0):
                    found.setdefault(id(tensor), Named(tensor, path, path))
    return {**found, **_parameters(modules)}


def tensors_in_frames(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The tensors that have a plain name in a frame of the user's, innermost first."""
    seen: set[int] = set()
    for scope in _scopes(frame):
        for name, value in list(scope.items()):
            if isinstance(value, torch.Tensor) and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                yield name, value


def _scopes(frame: FrameType | None) -> Iterator[Mapping[str, Any]]:
    seen: list[Mapping[str, Any]] = []
    n_frames = 0
    while frame is not None and n_frames < MOST_FRAMES:
        if is_users(frame.f_code.co_filename):
            n_frames += 1
            for scope in (local_names(frame), frame.f_globals):
                if all(scope is not one for one in seen):
                    seen.append(scope)
                    yield scope
        frame = frame.f_back


def _tensors(
    value: Any, path: str, modules: dict[int, tuple[str, Any]], depth: int
) -> Iterator[tuple[Any, str]]:
    if isinstance(value, torch.nn.Module):
        if id(value) not in modules:
            modules[id(value)] = (path, value)
            yield from _unregistered(value, path, modules, depth)
    elif isinstance(value, torch.Tensor):
        yield value, path
    elif depth >= _DEPTH:
        return
    elif isinstance(value, list | tuple) and len(value) <= MOST_ITEMS:
        for k, item in enumerate(value):
            yield from _tensors(item, f"{path}[{k}]", modules, depth + 1)
    elif isinstance(value, dict) and len(value) <= MOST_ITEMS:
        for key, item in list(value.items()):
            yield from _tensors(item, f"{path}[{key!r}]", modules, depth + 1)
    elif _is_plain_object(value):
        for key, item in list(vars(value).items()):
            yield from _tensors(item, f"{path}.{key}", modules, depth + 1)


def _unregistered(
    module: torch.nn.Module, path: str, modules: dict[int, tuple[str, Any]], depth: int
) -> Iterator[tuple[Any, str]]:
    """Tensors and lists of layers that modules hold as plain attributes: PyTorch has no path for those."""
    for inner, part in islice(module.named_modules(), MOST_ITEMS):
        if not type(part).__module__.startswith("torch."):
            for key, item in list(vars(part).items()):
                if not key.startswith("_"):
                    yield from _tensors(item, ".".join(filter(None, (path, inner, key))), modules, depth + 1)


def _is_plain_object(value: Any) -> bool:
    """An object of a class of the user's, whose attributes may be looked at without running anything."""
    module = type(value).__module__
    return hasattr(value, "__dict__") and module.partition(".")[0] not in ("torch", "numpy", "builtins")


def _parameters(modules: dict[int, tuple[str, Any]]) -> dict[int, Named]:
    """Parameters and buffers by their path in the outermost module.

    With the module's name where there are several such, or where the path begins with a number, as in `Sequential`.
    """
    inner = {id(part) for _, module in modules.values() for part in module.modules() if part is not module}
    roots = [(path, module) for key, (path, module) in modules.items() if key not in inner]
    found: dict[int, tuple[str, str, Any]] = {}
    for root, module in roots:
        for path, tensor in (*module.named_parameters(), *module.named_buffers()):
            # What compiling wraps it in is no part of its name.
            found.setdefault(id(tensor), (root, path.replace("_orig_mod.", ""), tensor))
    several = len({root for root, _, _ in found.values()}) > 1
    return {
        key: Named(tensor, f"{root}.{path}" if several or path[0].isdecimal() else path, f"{root}.{path}")
        for key, (root, path, tensor) in found.items()
    }

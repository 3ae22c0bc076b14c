"""The ear: a dispatch mode that hears every op of the program, forward and backward."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _pop_mode,
    _push_mode,
)

from gradproof.frontends.torch.record import exits
from gradproof.frontends.torch.record.custom_ops import definition_of, heard_inside
from gradproof.frontends.torch.record.recorder import Ref, TorchRecorder
from gradproof.frontends.torch.record.transforms import plain

# State that these ops change though their schema does not say so: the positions of the arguments.
_UNSAID_WRITES = {"aten.native_batch_norm.default": (3, 4), "aten.cudnn_batch_norm.default": (3, 4)}
_OF_TORCH = ("aten", "prims")
# What a compiler computes with while it traces a program.
_WITHOUT_NUMBERS = (FakeTensor, FunctionalTensor)


class Ear(TorchDispatchMode):  # type: ignore[misc]
    """Hands every op to the recorder; what goes wrong here never reaches the program."""

    supports_higher_order_operators = True  # or else `torch.cond` fails where a mode is on

    def __init__(self, recorder: TorchRecorder, failed: Callable[[], Any]) -> None:
        super().__init__()
        self._recorder, self._failed = recorder, failed

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or else the first op imports the compiler, which takes seconds

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True  # compiled code stays compiled

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        recorder = self._recorder
        if isinstance(func, HigherOrderOperator):  # runs functions of the user's where no mode is on
            recorder.hidden_in = func.name()
            return func(*args, **kwargs)
        if recorder.quiet or recorder.legacy_batches or (types and any(map(_has_own_ops, types))):
            return func(*args, **kwargs)  # what such a tensor becomes was not seen, and is not judged
        pending = None
        compiler = recorder.hush()
        try:
            tensors: list[Any] = []
            attrs: dict[str, Any] = {"args": referred(args, tensors), "kwargs": referred(kwargs, tensors)}
            name = name_of(func)
            if "as_strided" in name and tensors:
                attrs["layouts"] = {0: (tensors[0].storage_offset(), tensors[0].stride())}
            if recorder.autocasts and name == "aten._to_copy.default":
                attrs["by_policy"] = True
            heard = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
            if not any(
                one.is_meta or is_lazy(one) for one in tensors
            ):  # which have no numbers, or no shape yet
                with torch.no_grad():
                    pending = recorder.before(name, tensors, list(_written(func, args, kwargs)), attrs, heard)
                    exits.note(recorder, pending, sys._getframe(1))
        except Exception:
            self._failed()
        finally:
            recorder.speak(compiler)
        own = None if pending is None or func.namespace in _OF_TORCH else definition_of(func)
        if own is None:
            result = func(*args, **kwargs)
        else:
            with heard_inside(own, self):
                result = func(*args, **kwargs)
        if pending is not None:
            compiler = recorder.hush()
            try:
                with torch.no_grad():
                    outputs = list(tensors_in(result))
                    is_known = any(one.is_meta or is_lazy(one) for one in outputs) or (
                        own is not None and recorder.has_made(outputs, since=pending)
                    )
                    if not is_known:
                        recorder.after(pending, outputs)
            except Exception:
                self._failed()
            finally:
                recorder.speak(compiler)
        return result


def push_below(mode: Ear) -> None:
    """Under the modes of the program: leaving one of those takes off whatever is on top."""
    above = []
    while torch._C._len_torch_dispatch_stack():
        above.append(_pop_mode())
    _push_mode(mode)
    for other in reversed(above):
        _push_mode(other)


def take_out(mode: Ear) -> None:
    above = []
    while torch._C._len_torch_dispatch_stack():
        other = _pop_mode()
        if other is mode:
            break
        above.append(other)
    for other in reversed(above):
        _push_mode(other)


@lru_cache(maxsize=1024)
def _has_own_ops(kind: Any) -> bool:
    """Whether a kind of tensor computes in a way of its own; what compilers trace with does."""
    return kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl


def have_numbers(tensors: Iterable[Any]) -> bool:
    """Whether these are tensors of a program that runs, not of one that is being traced."""
    return not any(isinstance(plain(one), _WITHOUT_NUMBERS) for one in tensors)


def tensors_in(structure: Any) -> Iterator[Any]:
    if isinstance(structure, torch.Tensor):
        yield structure
    elif isinstance(structure, list | tuple):
        for item in structure:
            yield from tensors_in(item)
    elif isinstance(structure, dict):
        for item in structure.values():
            yield from tensors_in(item)


def referred(structure: Any, tensors: list[Any]) -> Any:
    """The structure with a `Ref` for every tensor; the tensors are appended in their order."""
    if isinstance(structure, torch.Tensor):
        tensors.append(structure)
        return Ref(len(tensors) - 1)
    if isinstance(structure, list | tuple):
        return tuple(referred(item, tensors) for item in structure)
    if isinstance(structure, dict):
        return {key: referred(item, tensors) for key, item in structure.items()}
    return structure


@lru_cache(maxsize=4096)
def name_of(func: Any) -> str:
    """As PyTorch writes it, anew every time."""
    return str(func)


@lru_cache(maxsize=4096)
def writes(func: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and the names of the arguments that an op changes."""
    arguments = func._schema.arguments
    said = [k for k, one in enumerate(arguments) if one.alias_info is not None and one.alias_info.is_write]
    places = (*said, *_UNSAID_WRITES.get(str(func), ()))
    return places, tuple(arguments[k].name for k in places)


def _written(func: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    places, names = writes(func)
    for place, name in zip(places, names):
        yield from tensors_in(args[place] if place < len(args) else kwargs.get(name))

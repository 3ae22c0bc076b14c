"""Numbers that leave PyTorch: by ops that show it, and by ways that show only in the source of the line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from gradproof.frontends.record.source import argument, call_at, first_user_frame, span_of
from gradproof.frontends.torch.record.memory import DETACH
from gradproof.frontends.torch.record.recorder import Pending, TorchRecorder

_SCALAR = "aten._local_scalar_dense.default"
_NEW = "aten.lift_fresh.default"  # a tensor of new numbers, as `torch.tensor` makes it
_MAKERS = ("tensor", "as_tensor", "asarray", "FloatTensor", "DoubleTensor", "Tensor")
MOST_PACKED = 1_000


def note(recorder: TorchRecorder, op: Pending, frame: FrameType) -> None:
    """Keep what an op lets out."""
    if op.op == _SCALAR:
        recorder.leave("item()", op.inputs[0], frame)
    elif op.op == DETACH and _names_numpy(frame):
        recorder.leave("numpy()", op.inputs[0], frame)
    elif op.op == _NEW:
        for tensor in _packed(first_user_frame(frame)):
            recorder.leave("torch.tensor()", recorder.memory.read(tensor), frame)


def _names_numpy(frame: FrameType) -> bool:
    """`numpy()` shows itself only as a `detach`, on a line that names it."""
    user = first_user_frame(frame)
    line = "" if user is None else linecache.getline(user.f_code.co_filename, user.f_lineno)
    return "numpy(" in line or "np." in line


def _packed(frame: FrameType | None) -> Iterator[Any]:
    """The tensors of a list in `torch.tensor(list)`: their numbers are read without any op."""
    call = None if frame is None else call_at(span_of((frame.f_code, frame.f_lasti)))
    if frame is None or call is None or ast.unparse(call.func).split(".")[-1] not in _MAKERS:
        return
    given = argument(call, 0, "data")
    names = [given] if isinstance(given, ast.Name) else list(getattr(given, "elts", ()))
    for name in names:
        value = _value(frame, name.id) if isinstance(name, ast.Name) else None
        for one in value[:MOST_PACKED] if isinstance(value, list | tuple) else [value]:
            if isinstance(one, torch.Tensor) and one.requires_grad:
                yield one


def _value(frame: FrameType, name: str) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))

"""Numbers that leave PyTorch: by ops that show it, and by ways that show only in the source of the line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np
import torch

from gradproof.frontends.record.local_names import local_names
from gradproof.frontends.record.model import OpEvent, Value
from gradproof.frontends.record.source import (
    Place,
    argument,
    call_at,
    first_user_frame,
    is_users,
    span_of,
    user_places,
)
from gradproof.frontends.torch.record.memory import DETACH
from gradproof.frontends.torch.record.recorder import Pending, Ref, TorchRecorder, numbers
from gradproof.ir.syntax import tree_of

_SCALAR = "aten._local_scalar_dense.default"
_NEW = "aten.lift_fresh.default"  # a tensor of new numbers, as `torch.tensor` makes it
_ARITHMETIC = frozenset(f"aten.{name}.Tensor" for name in ("add", "sub", "mul", "div"))
_DERIVATIVES = ("autograd/gradcheck.py", "autograd/functional.py")
_MAKERS = ("tensor", "as_tensor", "asarray", "FloatTensor", "DoubleTensor", "Tensor")
MOST_PACKED = 1_000


def note(recorder: TorchRecorder, op: Pending, frame: FrameType) -> None:
    """Keep what an op lets out; what PyTorch's own derivatives read for themselves stays with them."""
    if op.op in (_SCALAR, DETACH, _NEW) and _is_for_derivatives(frame):
        return
    if op.op == _SCALAR:
        recorder.leave("item()", op.inputs[0], user_places(frame))
    elif op.op == DETACH and _names_numpy(frame):
        recorder.leave("numpy()", op.inputs[0], _up_to_numpy(user_places(frame)))
    elif op.op == _NEW:
        user = first_user_frame(frame)
        for tensor in _packed(user):
            recorder.leave("torch.tensor()", recorder.memory.read(tensor), user_places(frame))
        for tensor, place in _listed(user):
            recorder.leave("tolist()", recorder.memory.read(tensor), (place, *user_places(frame)[1:]))


def with_numbers(event: OpEvent) -> OpEvent:
    """The event with its plain numbers as values: each may be one that a tensor was read for."""
    args, near = event.attrs.get("args"), event.inputs[0] if event.inputs else None
    is_arithmetic = event.op in _ARITHMETIC and near is not None and near.dtype in ("float32", "float64")
    if not is_arithmetic or near is None or not isinstance(args, tuple):
        return event
    inputs, given = list(event.inputs), list(args)
    for k, one in enumerate(given):
        if isinstance(one, float):
            array = np.asarray(one, near.dtype)
            given[k] = Ref(len(inputs))
            inputs.append(Value(-next(numbers), near.dtype, (), lambda array=array: array))  # type: ignore[misc]
    return replace(event, inputs=tuple(inputs), attrs={**event.attrs, "args": tuple(given)})


def _is_for_derivatives(frame: FrameType | None) -> bool:
    """Whether the code that runs the op belongs to a check or to `autograd.functional`, and not to the user."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_code.co_filename.endswith(_DERIVATIVES):
            return True
        frame = frame.f_back
    return False


def _names_numpy(frame: FrameType) -> bool:
    """`numpy()` shows itself only as a `detach`, on a line that names it."""
    user = first_user_frame(frame)
    line = "" if user is None else linecache.getline(user.f_code.co_filename, user.f_lineno)
    return "numpy(" in line or "np." in line


def _up_to_numpy(places: tuple[Place, ...]) -> tuple[Place, ...]:
    """The `numpy()` that follows a `detach` in one chain of calls, which is what a reader looks for."""
    if not places:
        return places
    (code, at), *rest = places
    positions = list(code.co_positions())
    line, _, start, _ = positions[at // 2]
    text = linecache.getline(code.co_filename, line or 0).encode()
    for k, (first, last, column, end) in enumerate(positions):
        is_after = k > at // 2 and (first, last, column) == (line, line, start)
        if is_after and text[column:end].endswith(b".numpy()"):
            return ((code, 2 * k), *rest)
    return places


def _packed(frame: FrameType | None) -> Iterator[Any]:
    """The tensors of a list in `torch.tensor(list)`: their numbers are read without any op."""
    call = None if frame is None else call_at(span_of((frame.f_code, frame.f_lasti)))
    if frame is None or call is None or ast.unparse(call.func).split(".")[-1] not in _MAKERS:
        return
    for name in _written(argument(call, 0, "data")):
        value = _value(frame, name)
        for one in value[:MOST_PACKED] if isinstance(value, list | tuple) else [value]:
            if isinstance(one, torch.Tensor) and one.requires_grad:
                yield one


def _written(data: ast.expr | None) -> Iterator[ast.expr]:
    """The names, and paths of names such as `self.scale`, that a list is written with."""
    if isinstance(data, ast.Name | ast.Attribute):
        yield data
    elif isinstance(data, ast.List | ast.Tuple):
        for one in data.elts:
            yield from _written(one)


def _value(frame: FrameType, node: ast.expr) -> Any:
    """What a name, or a path of names, stands for, where no code runs to read it."""
    if isinstance(node, ast.Name):
        return local_names(frame).get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value(frame, node.value)
    parameters = owner._parameters if isinstance(owner, torch.nn.Module) else {}
    own: Mapping[str, Any] = getattr(owner, "__dict__", {})
    return own.get(node.attr, parameters.get(node.attr))


def _listed(frame: FrameType | None) -> Iterator[tuple[Any, Place]]:
    """The tensors whose `tolist()` a new tensor is made of, in the same function: no op shows that one."""
    call = None if frame is None else call_at(span_of((frame.f_code, frame.f_lasti)))
    given = None if call is None else argument(call, 0, "data")
    tree = None if frame is None else tree_of(frame.f_code.co_filename)
    if frame is None or given is None or tree is None:
        return
    used = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    for statement in ast.walk(tree):
        made = statement.value if isinstance(statement, ast.Assign) and used & _bound(statement) else None
        for node in _tolists(given if statement is tree else made):
            tensor = _value(frame, node.func.value)
            place = _place_of(frame, node)
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad and place is not None:
                yield tensor, place


def _bound(statement: ast.Assign) -> set[str]:
    return {
        name.id for target in statement.targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def _tolists(node: ast.AST | None) -> Iterator[Any]:
    """`x.tolist()` in an expression."""
    for one in () if node is None else ast.walk(node):
        called = one.func if isinstance(one, ast.Call) else None
        if (
            isinstance(called, ast.Attribute)
            and called.attr == "tolist"
            and isinstance(called.value, ast.Name)
        ):
            yield one


def _place_of(frame: FrameType, call: ast.Call) -> Place | None:
    """Where in the code of a frame a call is made; None if that is not above what runs now."""
    wanted = (call.lineno, call.end_lineno, call.col_offset, call.end_col_offset)
    places = (k for k, one in enumerate(frame.f_code.co_positions()) if one == wanted)
    found = next(places, None)
    return None if found is None or call.lineno > frame.f_lineno else (frame.f_code, 2 * found)

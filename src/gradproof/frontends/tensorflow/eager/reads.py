"""Which variables an op was given in the place of tensors.

An op that is given a variable itself (`tf.sin(v)`) reads it inside TensorFlow, and no callback says so. What the
op was called with does: the variable stands among its arguments where the tensor that was read stands among its inputs.
No identity rests on the address of a buffer or on the numbers in it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.util import _pywrap_utils

_OP, _FIRST_INPUT = 1, 3  # places among the arguments: a context, the op, a name, the inputs, the attributes

Reads = tuple[tuple[int, int], ...]
"""Places among the inputs of an op, each with the handle of the variable it was read from."""


class _OpsUnderWay(threading.local):
    """The arguments of the op that this thread is executing, innermost first."""

    args: tuple[Any, ...] = ()


_UNDER_WAY = _OpsUnderWay()
_ORIGINAL = pywrap_tfe.TFE_Py_FastPathExecute
_LOCK = threading.Lock()
_followers = 0


def _execute(*args: Any) -> Any:
    """In the place of TensorFlow's function; ops may run inside of ops, for a tangent or a conversion."""
    before = _UNDER_WAY.args
    _UNDER_WAY.args = args
    try:
        return _ORIGINAL(*args)
    finally:
        _UNDER_WAY.args = before


def follow() -> None:
    """From now on `reads_of` can be asked; once more `unfollow` ends it."""
    global _followers
    with _LOCK:
        _followers += 1
        if _followers == 1:
            pywrap_tfe.TFE_Py_FastPathExecute = _execute


def unfollow() -> None:
    global _followers
    with _LOCK:
        _followers -= 1
        if _followers == 0:
            pywrap_tfe.TFE_Py_FastPathExecute = _ORIGINAL


def reads_of(op: str, n_inputs: int) -> Reads | None:
    """The variables that the op under way has read by itself; None where its arguments and inputs do not fit."""
    args = _UNDER_WAY.args
    if len(args) <= _FIRST_INPUT or args[_OP] != op:
        return ()
    if not any(_holds_variable(arg) for arg in args[_FIRST_INPUT:]):
        return ()
    given = list(_inputs(op, args[_FIRST_INPUT:]))
    if len(given) != n_inputs:
        return None
    return tuple((place, one._handle._id) for place, one in enumerate(given) if _is_variable(one))


def _is_variable(thing: Any) -> bool:
    """As TensorFlow itself decides whether to read."""
    return bool(_pywrap_utils.IsResourceVariable(thing)) and isinstance(thing._handle, tf_ops.EagerTensor)


def _holds_variable(arg: Any) -> bool:
    if isinstance(arg, list | tuple):
        return any(map(_is_variable, arg))
    return _is_variable(arg)


def _inputs(op: str, args: Sequence[Any]) -> Iterator[Any]:
    for is_list, arg in zip(_lists(op), args):
        if is_list:
            yield from arg
        else:
            yield arg


@lru_cache(maxsize=1024)
def _lists(op: str) -> tuple[bool, ...]:
    """For each argument of an op that is an input, whether it is a list of tensors."""
    definition = op_def_registry.get(op)
    return (
        ()
        if definition is None
        else tuple(bool(a.number_attr or a.type_list_attr) for a in definition.input_arg)
    )

"""Whose `stop_gradient` it is: one that the user's own code calls, or one inside a function of a library."""

from __future__ import annotations

import inspect
import os
from functools import lru_cache
from types import FrameType
from typing import Any

from tensorflow.python.util import tf_export

from gradproof.frontends.record.source import is_users

_CALLED = "stop_gradient"  # the name of the function in every library that has one
# Files of helpers that every call passes through, and that are not what anybody has called.
_TRAMPOLINES = (
    "tensorflow/python/util/",
    "tensorflow/python/autograph/",
    "tensorflow/python/ops/weak_tensor_ops.py",
    "keras/src/utils/traceback_utils.py",
    "keras/src/ops/operation.py",
)


def hiding_function(frame: FrameType | None) -> str | None:
    """The library's function that called `stop_gradient`, by its public name; None where the user did."""
    named = False
    callers: list[FrameType] = []
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_code.co_name == _CALLED:
            named, callers = True, []  # what was inside of it are its own helpers
        elif named and not _is_trampoline(frame.f_code.co_filename):
            callers.append(frame)
        frame = frame.f_back
    if not callers:
        return None
    return next((name for caller in callers if (name := _public_name(caller))), callers[0].f_code.co_name)


@lru_cache(maxsize=4096)
def _is_trampoline(filename: str) -> bool:
    return any(part in filename.replace(os.sep, "/") for part in _TRAMPOLINES)


def _public_name(frame: FrameType) -> str | None:
    """`tf.nn.moments` for a function that TensorFlow or Keras offers its users."""
    function: Any = frame.f_globals.get(frame.f_code.co_name)
    if not inspect.isfunction(function):
        return None
    name = tf_export.get_canonical_name_for_symbol(function, add_prefix_to_v1_names=True)
    if name:
        return "tf." + str(name).removeprefix("compat.v1.")
    path = getattr(function, "_api_export_path", None)
    return path[0] if isinstance(path, list | tuple) else path

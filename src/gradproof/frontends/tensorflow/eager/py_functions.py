"""Python functions in eager code: what `tf.py_function` computes with is joined to what it was given and returned.

TensorFlow hands the Python function copies of the tensors. Its ops are seen like all others; only that the copies are
the op's inputs, and the op's outputs what the function returned, has to be written down.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops import gen_script_ops, script_ops
from tensorflow.python.util import nest

from gradproof.frontends.record.model import RETURN_OP
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import first_user_frame
from gradproof.frontends.tensorflow.observation import TensorFlowObservation


@dataclass
class _Call:
    """One run of the op: what it was given, and what its Python returned."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...] | None = None
    is_running: bool = False


class _Calls(threading.local):
    """The runs that are under way in a thread, innermost last."""

    def __init__(self) -> None:
        self.open: list[_Call] = []


class PyFunctions:
    """The hooks on the op and on the Python function that it calls."""

    def __init__(self, observation: TensorFlowObservation) -> None:
        self._observation = observation
        self._calls = _Calls()

    def patches(self) -> list[Patch]:
        return [
            wrap(gen_script_ops, "eager_py_func", self._op),
            wrap(script_ops.EagerFunc, "__call__", self._python),
            wrap(script_ops, "py_func_common", self._numpy),
        ]

    def _numpy(self, original: Any, function: Any, given: Any, *args: Any, **kwargs: Any) -> Any:
        """NumPy copies the memory of a tensor without asking for its numbers: said here, they have left."""
        recorder = self._observation.recorder
        user = first_user_frame(sys._getframe(2))
        if recorder.collections and not recorder.quiet and context.executing_eagerly() and user is not None:
            for tensor in nest.flatten(given):
                if isinstance(tensor, tf_ops.EagerTensor):
                    recorder.leave("tf.numpy_function", tensor, user)
        return original(function, given, *args, **kwargs)

    def _op(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = self._observation.recorder
        if recorder.quiet or not recorder.collections or not context.executing_eagerly():
            return original(*args, **kwargs)
        call = _Call(tuple(kwargs.get("input", args[0] if args else ())))
        self._calls.open.append(call)
        try:
            results = original(*args, **kwargs)
        finally:
            self._calls.open.pop()
        self._join(call.outputs or (), nest.flatten(results))
        return results

    def _python(self, original: Any, function: Any, device: Any, token: Any, args: Any) -> Any:
        call = self._calls.open[-1] if self._calls.open else None
        if call is None or call.is_running:
            return original(function, device, token, args)
        call.is_running = True
        self._join(call.inputs, args)
        outputs = original(function, device, token, args)
        call.outputs = tuple(nest.flatten(outputs))
        return outputs

    def _join(self, before: Iterable[Any], after: Iterable[Any]) -> None:
        """Record that the tensors of one side are those of the other."""
        try:
            pairs = [(one, other) for one, other in zip(before, after) if _are_two(one, other)]
            if pairs:
                ones, others = zip(*pairs)
                self._observation.recorder.add(RETURN_OP, ones, (), others, stopped=False)
        except Exception:  # the gradient is unverified then, and the user's program goes on
            self._observation.note_failure()


def _are_two(one: Any, other: Any) -> bool:
    are_tensors = isinstance(one, tf_ops.EagerTensor) and isinstance(other, tf_ops.EagerTensor)
    return are_tensors and one._id != other._id

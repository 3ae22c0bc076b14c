"""Checks of TensorFlow functions: calls them under a gradient tape and hands on what the tape returned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as fields_of
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from gradproof.errors import InvalidInput
from gradproof.frontends.assemble.captures import to_captures
from gradproof.frontends.check.jacobian import alike, as_heard, named, of_target, whole
from gradproof.frontends.check.purity import Impurity, Trial, impurity
from gradproof.frontends.check.request import Checked, Request, called, checked_input, checked_result
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.hooks import observe, unobserved
from gradproof.ir.capture import Capture

FRAMEWORK = "tensorflow"


@dataclass(frozen=True)
class CheckedSource:
    """A tensor or variable that is differentiated for, under the name the function has for it."""

    name: str
    tensor: Any

    @property
    def array(self) -> np.ndarray[Any, Any]:
        return np.array(self.tensor)


def check(request: Request) -> Checked:
    """Call the function twice as it is and once under a tape; nothing is judged here."""
    if request.gradient is not None:
        raise InvalidInput(
            "gradient= is for NumPy functions; in TensorFlow write the rule with `tf.custom_gradient`, "
            "and check() checks the rule wherever it is used"
        )
    with unobserved():
        return _checked(request, _sources(request))


def _checked(request: Request, sources: Sequence[CheckedSource]) -> Checked:
    names = tuple(source.name for source in sources)
    impure, result = _tried(request, sources)
    if impure is not None and impure.changed:
        return Checked(FRAMEWORK, names=names, impurity=impure)
    checked_result(result, request, request.output == "each" or request.order == 2)
    return Checked(FRAMEWORK, tuple(_captures(request, sources)), names, impure)


def _sources(request: Request) -> list[CheckedSource]:
    found: list[CheckedSource] = []
    for name, value in zip(request.argument_names, (*request.args, *request.kwargs.values())):
        found += _leaves(name, value)
    if not found:
        raise InvalidInput(
            f"check() needs at least one argument of real numbers for `{request.name}`: a tensor, a variable "
            "or a Keras model with trainable weights"
        )
    for source in found:
        checked_input(source.array, source.name)
    return found


def _leaves(name: str, value: Any) -> Iterator[CheckedSource]:
    """The tensors in an argument; a model stands for its trainable weights."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{name}[{key!r}]", item)
    elif isinstance(value, list | tuple):
        fields = [f".{field}" for field in getattr(value, "_fields", ())]  # of a named tuple
        for place, item in zip(fields or (f"[{k}]" for k in range(len(value))), value):
            yield from _leaves(f"{name}{place}", item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields_of(value):
            yield from _leaves(f"{name}.{field.name}", getattr(value, field.name))
    elif hasattr(value, "trainable_variables") and not isinstance(value, type):
        for weight in value.trainable_variables:
            inner = weight if isinstance(weight, tf.Variable) else weight.value  # Keras wraps them
            yield CheckedSource(getattr(weight, "path", None) or weight.name.removesuffix(":0"), inner)
    elif (isinstance(value, tf.Tensor | tf.Variable)) and (value.dtype.is_floating or value.dtype.is_complex):
        yield CheckedSource(name, value)


def _tried(request: Request, sources: Sequence[CheckedSource]) -> tuple[Impurity | None, Any]:
    def run() -> Trial:
        before = [source.array for source in sources]
        value = called(request.function, f"`{request.name}`", request.args, request.kwargs)
        value = request.selected(value)
        numbers = np.array(checked_result(value, request, True))
        return Trial(numbers, before, [source.array for source in sources])

    return impurity(run, [source.name for source in sources])


def _captures(request: Request, sources: Sequence[CheckedSource], alone: bool = False) -> list[Capture]:
    """The gradients that were asked for. Of a Jacobian all rows are captured if each is to be looked at `alone`."""
    calls: list[GradientCall] = []
    tensors = [source.tensor for source in sources]
    with observe(always, calls.append):
        with tf.GradientTape(persistent=True) as tape:
            _watch(tape, sources)
            targets = [_TargetOnTape(*found, alone) for found in _targets(request, sources)]
        n_own = len(calls)  # gradients that the function computed inside itself are not what was asked for
        for target in targets:
            for entry, weight in target.recorded:
                tape.gradient(entry, tensors, output_gradients=weight)
    asked = iter(calls[n_own:])
    found: list[Capture] = []
    for k, target in enumerate(targets):
        own = [named(next(asked), [source.name for source in sources]) for _ in target.recorded]
        if target.shape == ():
            found += [of_target(capture, target.name) for capture in to_captures(own[0])]
            continue
        rows = [of_target(as_heard(call), target.name) for call in own]
        if target.are_alike:
            numbers = _numbers(tape, target.value, tensors)
            found.append(alike(rows[0], numbers, target.shape, partial(_each_row, request, sources, k)))
        else:
            found.append(whole(rows, target.name, target.shape))
    return found


def _each_row(request: Request, sources: Sequence[CheckedSource], k: int) -> Capture:
    with unobserved():
        return _captures(request, sources, alone=True)[k]


class _TargetOnTape:
    """What is differentiated: a number, or an array whose entries are taken out while the tape records."""

    def __init__(self, name: str, value: Any, shape: tuple[int, ...], alone: bool) -> None:
        self.name, self.value, self.shape = name, value, shape
        self.are_alike = not alone and math.prod(shape) > 1
        self.recorded = (
            [(value, _unit(value, 0))] if self.are_alike else [(one, None) for one in _entries(value)]
        )


def _unit(value: Any, place: int) -> Any:
    weights = np.zeros(math.prod(value.shape), value.dtype.as_numpy_dtype)
    weights[place] = 1
    return tf.constant(weights.reshape(value.shape))


def _numbers(tape: Any, value: Any, tensors: Sequence[Any]) -> list[np.ndarray[Any, Any] | None]:
    """All rows of the Jacobian, by source; None where a row has no gradient of numbers in the source's shape."""
    rows: list[list[Any]] = [[] for _ in tensors]
    n_rows = math.prod(value.shape)
    for unit in tf.unstack(tf.reshape(tf.eye(n_rows, dtype=value.dtype), (n_rows, *value.shape))):
        for own, found in zip(rows, tape.gradient(value, tensors, output_gradients=unit)):
            own.append(found.numpy() if isinstance(found, tf.Tensor) else None)
    return [None if any(one is None for one in own) else np.stack(own) for own in rows]


def _watch(tape: Any, sources: Sequence[CheckedSource]) -> None:
    tape.watch([source.tensor for source in sources if isinstance(source.tensor, tf.Tensor)])


def _targets(
    request: Request, sources: Sequence[CheckedSource]
) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    """What is differentiated, and of what shape: the result, or, for the second order, each first derivative."""
    if request.order == 1:
        value = _result(request)
        yield request.name, value, tuple(value.shape) if request.output == "each" else ()
        return
    with tf.GradientTape() as inner:
        _watch(inner, sources)
        value = _result(request)
    for source, gradient in zip(sources, inner.gradient(value, [source.tensor for source in sources])):
        if gradient is not None:
            dense = tf.convert_to_tensor(gradient)
            yield f"(d {request.name} / d {source.name})", dense, tuple(dense.shape)


def _result(request: Request) -> Any:
    value = called(request.function, f"`{request.name}` under a tape", request.args, request.kwargs)
    # A result that has left TensorFlow has no gradient, and the report says where it left.
    return tf.convert_to_tensor(request.selected(value))


def _entries(value: Any) -> list[Any]:
    """The entries as tensors of their own, taken out while the tape records."""
    return tf.unstack(tf.reshape(value, [-1])) if value.shape.rank else [value]

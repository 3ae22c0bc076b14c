"""Datasets inside a function, from the elements that the user's run really drew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tensorflow.python.framework import constant_op, dtypes

from gradproof.frontends.tensorflow.eager.recorder import numbers
from gradproof.frontends.tensorflow.traced.feeds import MOST_ROUNDS, NO_MORE_ROUNDS, PASSING_ON, Element
from gradproof.frontends.tensorflow.values import UnknownTensor


class NotFollowed(Exception):
    """The elements of a dataset cannot be known."""


@dataclass(eq=False)
class Stream:
    """A dataset that was made inside a function: the op that made it, and from what."""

    frame: Any
    operation: Any
    inputs: tuple[Any, ...]
    _id: int = field(default_factory=lambda: -next(numbers))


def elements_of(interpreter: Any, dataset: Any) -> Iterator[Element]:
    """One element after the other, the graphs that compute them are run on the way."""
    if isinstance(dataset, UnknownTensor):
        raise NotFollowed(dataset.reason)
    if not isinstance(dataset, Stream):
        if dataset is None or dataset._id not in interpreter.supplied:
            raise NotFollowed("a loop over a dataset whose elements cannot be seen")
        yield from interpreter.supplied[dataset._id]
        return
    if any(isinstance(tensor, UnknownTensor) for tensor in dataset.inputs):
        raise NotFollowed(
            next(tensor.reason for tensor in dataset.inputs if isinstance(tensor, UnknownTensor))
        )
    kind, inputs = dataset.operation.type, dataset.inputs
    if kind == "RangeDataset":
        yield from _range(*inputs)
    elif kind == "ZipDataset":
        parts = [elements_of(interpreter, one) for one in inputs]
        yield from (tuple(tensor for element in row for tensor in element) for row in zip(*parts))
    elif kind == "ScanDataset":
        yield from _scan(interpreter, dataset)
    else:
        before = elements_of(interpreter, inputs[0])
        yield from _part(interpreter, dataset, before)


def _part(interpreter: Any, dataset: Stream, before: Iterator[Element]) -> Iterator[Element]:
    """Some of the elements, as they are."""
    kind, inputs = dataset.operation.type, dataset.inputs
    if kind == "TakeDataset":
        count = int(inputs[1]._numpy_internal())
        yield from before if count < 0 else islice(before, count)
    elif kind == "SkipDataset":
        yield from islice(before, int(inputs[1]._numpy_internal()), None)
    elif kind == "TakeWhileDataset":
        for element in before:
            name = dataset.operation.get_attr("predicate").name
            (goes_on,) = interpreter.inner(dataset.frame, name, [*element, *inputs[1:]])
            if isinstance(goes_on, UnknownTensor):
                raise NotFollowed(goes_on.reason)
            if not bool(goes_on._numpy_internal()):
                return
            yield element
    else:
        yield from before


def _scan(interpreter: Any, dataset: Stream) -> Iterator[Element]:
    operation = dataset.operation
    n_state = len(operation.get_attr("Tstate"))
    state, rest = list(dataset.inputs[1 : 1 + n_state]), dataset.inputs[1 + n_state :]
    for element in elements_of(interpreter, dataset.inputs[0]):
        name = operation.get_attr("f").name
        results = interpreter.inner(dataset.frame, name, [*state, *element, *rest])
        state = results[:n_state]
        yield tuple(results[n_state:])


def _range(start: Any, stop: Any, step: Any) -> Iterator[Element]:
    bounds = (int(bound._numpy_internal()) for bound in (start, stop, step))
    for number in range(*bounds):
        yield (constant_op.constant(number, dtypes.int64),)


def stream(interpreter: Any, frame: Any, operation: Any, inputs: tuple[Any, ...]) -> list[Stream]:
    """A dataset is followed when its elements are asked for."""
    del interpreter
    return [Stream(frame, operation, inputs)]


def reduce(interpreter: Any, frame: Any, operation: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """A loop over a dataset: what is computed from one element after the other."""
    n_state, n_frames = len(operation.outputs), len(interpreter.result.frames)
    state, rest = list(inputs[1 : 1 + n_state]), inputs[1 + n_state :]
    reason = None
    try:
        with interpreter.rounds() as begin:
            begin(0)
            for iteration, element in enumerate(elements_of(interpreter, inputs[0]), 1):
                state = interpreter.inner(frame, operation.get_attr("f").name, [*state, *element, *rest])
                begin(iteration)
                if iteration >= MOST_ROUNDS and interpreter.is_training(n_frames):
                    reason = NO_MORE_ROUNDS
                    break
    except NotFollowed as error:
        reason = str(error)
    return (
        state
        if reason is None
        else [UnknownTensor(reason, out.dtype, out.shape) for out in operation.outputs]
    )


_FOLLOWED = PASSING_ON | {"ScanDataset", "TakeWhileDataset", "ZipDataset", "RangeDataset"}
"""What a loop over data consists of; a function that maps a dataset may be random, and is not followed."""
DATASETS = {**dict.fromkeys(_FOLLOWED, stream), "ReduceDataset": reduce}

"""Data that a function draws by itself from an iterator: drawn here first, then handed to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorflow.python.framework import errors
from tensorflow.python.ops import gen_dataset_ops

from gradproof.frontends.tensorflow.attributes import execution_attrs

_GET_NEXT = "IteratorGetNext"


def split_off(graph: Any, args: Sequence[Any]) -> tuple[tuple[Any, ...], Mapping[str, Sequence[Any]]]:
    """The arguments for the user's call, and what its iterator op will return.

    The element is drawn from the user's iterator, which moves on by one as it would have, and put into an
    iterator that holds just this element and takes its place in the call.
    """
    draws = [operation for operation in graph.get_operations() if operation.type == _GET_NEXT]
    positions = {symbol._id: i for i, symbol in enumerate(graph.inputs)}
    if len(draws) != 1 or draws[0].inputs[0]._id not in positions:
        return tuple(args), {}
    position = positions[draws[0].inputs[0]._id]
    attrs = execution_attrs(draws[0])
    types = dict(zip(attrs[::2], attrs[1::2]))
    try:
        element = gen_dataset_ops.iterator_get_next(
            args[position], types["output_types"], types["output_shapes"]
        )
    except errors.OutOfRangeError:
        return tuple(args), {}  # the user's own call will find the end as well, and say so
    replaced = list(args)
    replaced[position] = _iterator_over(element)
    return tuple(replaced), {_GET_NEXT: tuple(element)}


def _iterator_over(element: Sequence[Any]) -> Any:
    types = [tensor.dtype for tensor in element]
    shapes = [tensor.shape for tensor in element]
    dataset = gen_dataset_ops.tensor_dataset(list(element), shapes)
    iterator = gen_dataset_ops.anonymous_iterator_v3(types, shapes)
    gen_dataset_ops.make_iterator(dataset, iterator)
    return iterator

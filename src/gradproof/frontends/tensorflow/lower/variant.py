"""Ragged tensors that were put into a variant, as loops over the rows of one do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import lower


@lower("RaggedTensorToVariant")
def _to_variant(m: Any, event: Any, *inputs: Any) -> Any:
    """The values of the whole, or those of every row. Where rows begin is read off what comes out again."""
    *splits, values = inputs
    if not event.attrs["batched_input"]:
        return TensorList((values,))
    ends = np.asarray(splits[0].value)
    for inner in splits[1:]:
        ends = np.asarray(inner.value)[ends]
    return TensorList(tuple(TensorList((_rows(m, values, a, b),)) for a, b in itertools.pairwise(ends)))


def _rows(m: Any, values: Any, begin: int, end: int) -> Any:
    rest = values.shape[1:]
    return m.strided_slice(values, begin=(int(begin), *(0,) * len(rest)), end=(int(end), *rest))


@lower("RaggedTensorFromVariant")
def _from_variant(m: Any, event: Any, encoded: Any) -> Any:
    splits = event.outputs[:-1]
    return *(m.constant(split.array) for split in splits), _joined(m, event, encoded)


@lower("RaggedTensorToVariantGradient")
def _to_variant_gradient(m: Any, event: Any, encoded: Any, splits: Any, shape: Any) -> Any:
    """What reached the rows, one after the other."""
    return _joined(m, event, encoded)


def _joined(m: Any, event: Any, encoded: TensorList) -> Any:
    parts = list(_values(encoded))
    if any(part is None for part in parts):
        raise NotImplementedError("rows that nothing was written to")
    values = event.outputs[-1]
    if not parts:
        return m.constant(values.array)
    return m.reshape(parts[0] if len(parts) == 1 else m.concat(*parts, axis=0), shape=values.shape)


def _values(encoded: TensorList) -> Iterator[Any]:
    for item in encoded.items:
        if isinstance(item, TensorList):
            yield from _values(item)
        else:
            yield item

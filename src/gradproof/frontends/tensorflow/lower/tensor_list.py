"""Lists of tensors, which loops in graphs keep their results and their intermediates in."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import ints, lower


def _zeros(m: Any, event: Any, place: int, shape: tuple[int, ...]) -> Any:
    dtype = event.outputs[place].array.dtype
    return m.constant(np.zeros(shape, dtype))


def _item(m: Any, event: Any, items: TensorList, index: int, place: int = 0) -> Any:
    """An item nothing was written to reads as zeros."""
    item = items.items[index]
    return _zeros(m, event, place, event.outputs[place].shape) if item is None else item


@lower("EmptyTensorList")
def _empty(m: Any, event: Any, *_: Any) -> Any:
    return TensorList(())


@lower("TensorListReserve")
def _reserve(m: Any, event: Any, shape: Any, n: Any) -> Any:
    return TensorList((None,) * ints(n)[0])


@lower("TensorListFromTensor")
def _from_tensor(m: Any, event: Any, x: Any, *_: Any) -> Any:
    if isinstance(x, TensorList):
        return x
    return TensorList(tuple(_row(m, x, k) for k in range(x.shape[0])))


def _row(m: Any, x: Any, k: int) -> Any:
    part = m.strided_slice(x, begin=(k, *(0,) * (x.ndim - 1)), end=(k + 1, *x.shape[1:]))
    return m.reshape(part, shape=tuple(x.shape[1:]))


@lower("TensorListStack")
def _stack(m: Any, event: Any, items: Any, *_: Any) -> Any:
    if event.outputs[0].array is None:  # lists of lists
        return items
    if not items.items:
        return m.constant(event.outputs[0].array)
    shape = tuple(event.outputs[0].shape[1:])
    parts = [_zeros(m, event, 0, shape) if item is None else item for item in items.items]
    return m.stack(*parts, axis=0)


@lower("TensorListGetItem")
def _get_item(m: Any, event: Any, items: Any, index: Any, *_: Any) -> Any:
    return _item(m, event, items, ints(index)[0])


@lower("TensorListSetItem")
def _set_item(m: Any, event: Any, items: Any, index: Any, item: Any) -> Any:
    return _with(items, {ints(index)[0]: item})


def _with(items: TensorList, new: dict[int, Any]) -> TensorList:
    length = max([len(items.items), *(k + 1 for k in new)])
    old = (*items.items, *(None,) * (length - len(items.items)))
    return TensorList(tuple(new.get(k, item) for k, item in enumerate(old)))


@lower("TensorListPushBack")
def _push_back(m: Any, event: Any, items: Any, item: Any) -> Any:
    return TensorList((*items.items, item))


@lower("TensorListPopBack")
def _pop_back(m: Any, event: Any, items: Any, *_: Any) -> Any:
    last = items.items[-1]
    if not isinstance(last, TensorList):
        last = _item(m, event, items, len(items.items) - 1, place=1)
    return TensorList(items.items[:-1]), last


@lower("TensorListGather")
def _gather(m: Any, event: Any, items: Any, indices: Any, *_: Any) -> Any:
    return _stack(m, event, TensorList(tuple(items.items[k] for k in ints(indices))))


@lower("TensorListScatter", "TensorListScatterV2")
def _scatter(m: Any, event: Any, x: Any, indices: Any, shape: Any, *n: Any) -> Any:
    length = max(ints(n[0])[0], 0) if n else 0
    return _with(
        TensorList((None,) * length), {k: _row(m, x, place) for place, k in enumerate(ints(indices))}
    )


@lower("TensorListScatterIntoExistingList")
def _scatter_into(m: Any, event: Any, items: Any, x: Any, indices: Any) -> Any:
    return _with(items, {k: _row(m, x, place) for place, k in enumerate(ints(indices))})


@lower("TensorListConcat", "TensorListConcatV2")
def _concat(m: Any, event: Any, items: Any, *_: Any) -> Any:
    lengths = event.outputs[1].array
    rest = tuple(event.outputs[0].shape[1:])
    parts = [
        _zeros(m, event, 0, (int(n), *rest)) if item is None else item
        for item, n in zip(items.items, lengths)
    ]
    return (m.concat(*parts, axis=0) if parts else m.constant(event.outputs[0].array)), m.constant(lengths)


@lower("TensorListSplit")
def _split(m: Any, event: Any, x: Any, shape: Any, lengths: Any) -> Any:
    parts, first = [], 0
    for n in ints(lengths):
        rest = tuple(x.shape[1:])
        begin, end = (first, *(0,) * len(rest)), (first + n, *rest)
        parts.append(m.strided_slice(x, begin=begin, end=end))
        first += n
    return TensorList(tuple(parts))


@lower("TensorListConcatLists")
def _concat_lists(m: Any, event: Any, a: Any, b: Any) -> Any:
    return TensorList((*a.items, *b.items))


@lower("TensorListResize")
def _resize(m: Any, event: Any, items: Any, size: Any) -> Any:
    n = ints(size)[0]
    return TensorList((*items.items[:n], *(None,) * (n - len(items.items))))


@lower("OptionalFromValue", "CompositeTensorVariantFromComponents")
def _boxed(m: Any, event: Any, *items: Any) -> Any:
    return TensorList(items)


@lower("OptionalGetValue", "CompositeTensorVariantToComponents")
def _unboxed(m: Any, event: Any, box: Any) -> Any:
    return box.items


@lower("TensorListLength", "TensorListElementShape")
def _fact(m: Any, event: Any, items: Any) -> Any:
    return m.constant(event.outputs[0].array)


def zeros_like(m: Any, items: TensorList) -> TensorList:
    """The zero that a gradient of a list starts from."""

    def zero(item: Any) -> Any:
        if item is None:
            return None
        return zeros_like(m, item) if isinstance(item, TensorList) else m.constant(np.zeros_like(item.value))

    return TensorList(tuple(zero(item) for item in items.items))


def add_lists(m: Any, a: TensorList, b: TensorList) -> TensorList:
    """Item by item; one that was never written counts as zero."""

    def add(one: Any, other: Any) -> Any:
        if one is None or other is None:
            return other if one is None else one
        return add_lists(m, one, other) if isinstance(one, TensorList) else m.add(one, other)

    if len(a.items) != len(b.items):
        raise NotImplementedError("the sum of lists of different length")
    return TensorList(tuple(add(one, other) for one, other in zip(a.items, b.items)))

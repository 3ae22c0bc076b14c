"""Reading and writing entries by index: slices, places, masks, and the functions built on them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import NotSupported
from gradproof.ir.program import OPAQUE
from gradproof.tape.functions._operands import operand, require_numbers, values
from gradproof.tape.functions._table import lowers, put_flat
from gradproof.tape.functions.decisions import condition

PLACES = OPAQUE + "places"  # integers worked out from masks and indices: facts of the run


@lowers(operator.getitem)
def _getitem(m: Any, y: Any, x: Any, index: Any) -> Any:
    plain = values(index)
    parts = plain if isinstance(plain, tuple) else (plain,)
    if all(part is None or part is Ellipsis or isinstance(part, int | np.integer | slice) for part in parts):
        return _sliced(m, y, x, parts)
    if isinstance(index, Traced) and index.value.dtype.kind in "iu":
        return m.record("take", [x, index], y, {"axis": 0})
    return _at_places(m, y, x, _places(m, x, index))


def _sliced(m: Any, y: Any, x: Any, parts: tuple[Any, ...]) -> Any:
    """Slices and single places: a strided slice, and a shape."""
    named = [part for part in parts if part is not None and part is not Ellipsis]
    if Ellipsis in parts:
        here = parts.index(Ellipsis)
        before = [part for part in parts[:here] if part is not None]
        after = [part for part in parts[here + 1 :] if part is not None]
        named = [*before, *(slice(None),) * (x.ndim - len(before) - len(after)), *after]
    named += [slice(None)] * (x.ndim - len(named))
    ranges = [_range(part, n) for part, n in zip(named, x.shape)]
    begin, end, stride = zip(*ranges) if ranges else ((), (), ())
    if (begin, end, stride) == ((0,) * x.ndim, tuple(x.shape), (1,) * x.ndim):
        return m.record("reshape", [x], y, {"shape": y.shape})
    return m.reshape(m.strided_slice(x, begin=begin, end=end, stride=stride), shape=y.shape)


def _range(part: Any, n: int) -> tuple[int, int, int]:
    if isinstance(part, slice):
        begin, end, stride = (int(k) for k in part.indices(n))
        # An empty slice may begin past the end, which is no place of the axis.
        return (begin, end, stride) if len(range(begin, end, stride)) else (0, 0, 1)
    place = int(part) % n
    return place, place + 1, 1


def _places(m: Any, x: Any, index: Any) -> Traced:
    """Where, counted flat, an index reads; it stays tied to the decisions the index was made from."""
    places = np.arange(x.value.size).reshape(x.shape)[values(index)]
    origins = [part for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, Traced)]
    return m.record(PLACES, origins, places, {}) if origins else m.constant(places)  # type: ignore[no-any-return]


def _at_places(m: Any, y: Any, x: Any, places: Any) -> Any:
    return m.record("take", [m.reshape(x, shape=(x.value.size,)), places], y, {"axis": 0})


def _write(m: Any, y: Any, x: Any, places: Traced, new: Any) -> Any:
    """`x` with the entries at flat places replaced by `new`, which broadcasts."""
    require_numbers(y)
    x, new = operand(m, x, y.dtype), operand(m, new, y.dtype)
    flat = places.value.reshape(-1)
    parts = m.reshape(m.broadcast(_fitted(m, new, places.shape), shape=places.shape), shape=(flat.size,))
    if flat.size == x.value.size and np.array_equal(flat, np.arange(flat.size)):
        return m.reshape(parts, shape=y.shape)  # everything is replaced: nothing is left of x
    where = m.record(PLACES, [places], flat[:, None], {})
    result = m.scatter_update(m.reshape(x, shape=(x.value.size,)), where, parts)
    return m.reshape(result, shape=y.shape)


def _fitted(m: Any, new: Any, shape: tuple[int, ...]) -> Any:
    """NumPy drops leading axes of length one when it assigns."""
    extra = new.ndim - len(shape)
    return m.reshape(new, shape=new.shape[extra:]) if extra > 0 else new


@lowers(operator.setitem)
def _setitem(m: Any, y: Any, x: Any, index: Any, new: Any) -> Any:
    if (
        isinstance(index, Traced)
        and index.value.dtype == bool
        and index.shape == x.shape
        and np.ndim(values(new)) == 0
    ):
        require_numbers(y)
        return m.select(index, operand(m, new, y.dtype), operand(m, x, y.dtype))
    return _write(m, y, x, _places(m, x, index), new)


@lowers(put_flat)
def _put_flat(m: Any, y: Any, base: Any, places: Any, new: Any) -> Any:
    return _write(m, y, base, m.constant(values(places)), new)


@lowers(np.copyto)
def _copyto(m: Any, y: Any, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Any:
    require_numbers(y)
    new = m.broadcast(_fitted(m, operand(m, src, y.dtype), y.shape), shape=y.shape)
    return new if where is True else m.select(condition(m, where), new, operand(m, dst, y.dtype))


@lowers(np.putmask)
def _putmask(m: Any, y: Any, a: Any, mask: Any, new: Any) -> Any:
    require_numbers(y)
    new = operand(m, new, y.dtype)
    if new.shape != y.shape:
        repeated = m.take(
            m.reshape(new, shape=(new.value.size,)), np.arange(y.size) % max(new.value.size, 1), axis=0
        )
        new = m.reshape(repeated, shape=y.shape)
    return m.select(condition(m, mask), new, operand(m, a, y.dtype))


@lowers(np.put)
def _put(m: Any, y: Any, a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    places = np.ravel(values(ind))
    new = operand(m, v, y.dtype)
    new = m.take(
        m.reshape(new, shape=(new.value.size,)), np.arange(places.size) % max(new.value.size, 1), axis=0
    )
    n = y.size
    places = places % n if mode == "wrap" else np.clip(places, 0, n - 1) if mode == "clip" else places
    return _write(m, y, a, m.constant(np.where(places < 0, places + n, places)), new)


@lowers(np.put_along_axis)
def _put_along_axis(m: Any, y: Any, arr: Any, indices: Any, new: Any, axis: Any = -1) -> Any:
    if axis is None:
        raise NotSupported("put_along_axis without an axis")
    grid = np.arange(y.size).reshape(y.shape)
    origins = [indices] if isinstance(indices, Traced) else []
    places = np.take_along_axis(grid, values(indices), int(axis))
    where = m.record(PLACES, origins, places, {}) if origins else m.constant(places)
    return _write(m, y, arr, where, new)


@lowers(np.fill_diagonal)
def _fill_diagonal(m: Any, y: Any, a: Any, val: Any, wrap: bool = False) -> Any:
    mask = np.zeros(y.shape, bool)
    np.fill_diagonal(mask, True, wrap)
    if np.ndim(values(val)):
        raise NotSupported("fill_diagonal with several values")
    return m.select(mask, operand(m, val, y.dtype), operand(m, a, y.dtype))


@lowers((np.add, "at"))
def _add_at(m: Any, y: Any, x: Any, index: Any, new: Any) -> Any:
    """Entries added at places, also several times at one place."""
    require_numbers(y)
    x, new = operand(m, x, y.dtype), operand(m, new, y.dtype)
    places = _places(m, x, index)
    parts = m.reshape(m.broadcast(new, shape=places.shape), shape=(places.value.size,))
    flat = m.record(PLACES, [places], places.value.reshape(-1), {})
    return m.add(x, m.reshape(m.scatter_add(parts, flat, size=x.value.size), shape=x.shape))


@lowers((np.subtract, "at"))
def _subtract_at(m: Any, y: Any, x: Any, index: Any, new: Any) -> Any:
    return _add_at(m, y, x, index, m.neg(operand(m, new, y.dtype)))


@lowers(np.take)
def _take(m: Any, y: Any, a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    x = operand(m, a, y.dtype)
    x = m.reshape(x, shape=(x.value.size,)) if axis is None else x
    axis = 0 if axis is None else int(axis) % x.ndim
    if mode != "raise":
        n, plain = x.shape[axis], values(indices)
        indices = m.constant(plain % n if mode == "wrap" else np.clip(plain, 0, n - 1))
    indices = indices if isinstance(indices, Traced) else m.constant(np.asarray(indices))
    return m.record("take", [x, indices], y, {"axis": axis})


@lowers(np.take_along_axis)
def _take_along_axis(m: Any, y: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    x = operand(m, arr, y.dtype)
    x = m.reshape(x, shape=(x.value.size,)) if axis is None else x
    axis = 0 if axis is None else int(axis) % x.ndim
    plain = values(indices)
    if any(k != axis and n != x.shape[k] for k, n in enumerate(np.shape(plain))):
        places = np.take_along_axis(np.arange(x.value.size).reshape(x.shape), plain, axis)
        return _at_places(
            m, y, x, m.record(PLACES, [indices] if isinstance(indices, Traced) else [], places, {})
        )
    indices = indices if isinstance(indices, Traced) else m.constant(np.asarray(indices))
    return m.record("take_along", [x, indices], y, {"axis": axis})


@lowers(np.compress)
def _compress(m: Any, y: Any, choice: Any, a: Any, axis: Any = None) -> Any:
    places = np.nonzero(np.asarray(values(choice)))[0]
    origins = [choice] if isinstance(choice, Traced) else []
    return _take(m, y, a, m.record(PLACES, origins, places, {}) if origins else places, axis)


@lowers(np.extract)
def _extract(m: Any, y: Any, choice: Any, arr: Any) -> Any:
    x = operand(m, arr, y.dtype)
    places = np.nonzero(np.ravel(values(choice)))[0]
    origins = [choice] if isinstance(choice, Traced) else []
    return _at_places(m, y, x, m.record(PLACES, origins, places, {}) if origins else m.constant(places))


@lowers(np.select)
def _select(m: Any, y: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    require_numbers(y)
    result = operand(m, default, y.dtype)
    for choice, part in reversed(list(zip(condlist, choicelist))):
        result = m.select(condition(m, choice), operand(m, part, y.dtype), result)
    return result


@lowers(np.choose)
def _choose(m: Any, y: Any, a: Any, choices: Any, mode: str = "raise") -> Any:
    require_numbers(y)
    if mode != "raise" or isinstance(choices, Traced):
        raise NotSupported("choose out of range, or from one array")
    result = operand(m, choices[0], y.dtype)
    for k, part in enumerate(choices[1:], start=1):
        result = m.select(np.asarray(values(a)) == k, operand(m, part, y.dtype), result)
    return result


@lowers(np.searchsorted)
def _searchsorted(m: Any, y: Any, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    dtype = np.result_type(np.asarray(values(a)), np.asarray(values(v)))
    if sorter is not None or dtype.kind != "f" or np.ndim(values(a)) != 1:
        raise NotSupported("searchsorted with a sorter, or among integers")
    edges, x = operand(m, a, dtype), operand(m, v, dtype)
    flat = m.reshape(x, shape=(x.value.size,))
    return m.reshape(
        m.record("searchsorted", [edges, flat], np.reshape(y, -1), {"side": side}), shape=y.shape
    )

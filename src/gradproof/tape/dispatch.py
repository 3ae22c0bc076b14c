"""Runs a NumPy call on the plain values, exactly as NumPy would, and has it recorded."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradproof.tape.array import Array
from gradproof.tape.functions._table import PLAIN, VIEWS, as_type_of, put_flat
from gradproof.tape.memory import compute
from gradproof.tape.recording import record_call, record_flat
from gradproof.tape.state import note_leave

# Reductions of ufuncs that NumPy also offers as functions; those carry the lowering.
_REDUCTIONS: dict[Any, Any] = {
    (np.add, "reduce"): np.sum,
    (np.multiply, "reduce"): np.prod,
    (np.maximum, "reduce"): np.max,
    (np.minimum, "reduce"): np.min,
    (np.logical_and, "reduce"): np.all,
    (np.logical_or, "reduce"): np.any,
    (np.add, "accumulate"): np.cumsum,
    (np.multiply, "accumulate"): np.cumprod,
}


def raw(item: Any) -> Any:
    """Traced arrays replaced by their values, at any depth of lists and tuples."""
    if isinstance(item, Array):
        return item._value
    if isinstance(item, tuple) and type(item) is tuple:
        return tuple(raw(part) for part in item)
    if isinstance(item, list):
        return [raw(part) for part in item]
    return item


def operate(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """The operators: as the ufunc, but other types may know better."""
    if isinstance(a, Array):
        if not isinstance(b, Array):
            if b is None or getattr(type(b), "__array_ufunc__", b) is None:
                return NotImplemented
            return record_flat(ufunc, (a, b), compute(ufunc, a._value, b))
        return record_flat(ufunc, (a, b), compute(ufunc, a._value, b._value))
    if a is None or getattr(type(a), "__array_ufunc__", a) is None:
        return NotImplemented
    return record_flat(ufunc, (a, b), compute(ufunc, a, b._value))


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if method == "at":
        return _call_at(ufunc, inputs)
    if method == "__call__":
        if not kwargs:
            return record_flat(
                ufunc, inputs, compute(ufunc, *[x._value if isinstance(x, Array) else x for x in inputs])
            )
        return _call_with_options(ufunc, ufunc, inputs, kwargs)
    key = _REDUCTIONS.get((ufunc, method), (ufunc, method))
    kwargs = kwargs if method == "outer" or len(inputs) > 1 else {"axis": 0, **kwargs}
    return _call_with_options(key, getattr(ufunc, method), inputs, kwargs)


def _call_with_options(key: Any, function: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """With `out`, results go into fresh memory first: a tape may still need what `out` holds now."""
    outs = kwargs.pop("out", None)
    outs = outs if isinstance(outs, tuple) or outs is None else (outs,)
    plain = {option: raw(item) for option, item in kwargs.items()}
    values = tuple(raw(x) for x in inputs)
    if outs is None or all(out is None for out in outs):
        value = function(*values, **plain)
        return record_call(key, inputs, kwargs, value)
    buffers = tuple(_buffer(out) for out in outs)
    value = function(*values, **plain, out=buffers if len(buffers) > 1 else buffers[0])
    kept = {**kwargs, "out": outs[0]} if "where" in kwargs else kwargs
    results = record_call(key, inputs, kept, _copies(value))
    return _deliver(outs, results, inputs)


def _buffer(out: Any) -> Any:
    return out._value.copy() if isinstance(out, Array) else out


def _copies(value: Any) -> Any:
    """A plain `out` belongs to the caller, who may change it; the record needs memory of its own."""
    return tuple(np.array(part) for part in value) if isinstance(value, tuple) else np.array(value)


def _deliver(outs: tuple[Any, ...], results: Any, inputs: tuple[Any, ...]) -> Any:
    """Traced `out` arrays take over the result; in the place of a plain one the traced result is returned."""
    parts = results if isinstance(results, tuple) else (results,)
    returned = []
    for out, part in zip(outs, parts):
        if isinstance(out, Array):
            rebind(out, part)
            returned.append(out)
            continue
        if out is not None:
            for x in inputs:
                if isinstance(x, Array):
                    note_leave("out=", x._record)
        returned.append(part)
    return tuple(returned) if isinstance(results, tuple) else returned[0]


def _call_at(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> None:
    target = inputs[0]
    new = _buffer(target)
    ufunc.at(new, *(raw(x) for x in inputs[1:]))
    if isinstance(target, Array):
        rebind(target, record_call((ufunc, "at"), inputs, {}, new))
        return
    for x in inputs[1:]:
        if isinstance(x, Array):
            note_leave(f"np.{ufunc.__name__}.at", x._record)


def call_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    if function in PLAIN:
        return function(*raw(args), **{key: raw(item) for key, item in kwargs.items()})
    from gradproof.tape.inplace import CHANGES_ITS_ARGUMENT, CREATES

    special = CREATES.get(function) or CHANGES_ITS_ARGUMENT.get(function)
    if special is not None:
        return special(function, args, dict(kwargs))
    if kwargs.get("out") is not None:
        return _call_with_options(function, function, args, dict(kwargs))
    kwargs = {key: item for key, item in kwargs.items() if key != "out"}
    value = function(*raw(args), **{key: raw(item) for key, item in kwargs.items()})
    result = record_call(function, args, kwargs, value)
    if function in VIEWS:
        _link(result, value, args[0], lambda base: function(base, *args[1:], **kwargs))
    return result


def get_item(array: Array, index: Any) -> Any:
    value = array._value[raw(index)]
    result = record_call(operator.getitem, (array, index), {}, value)
    _link(result, value, array, lambda base: base[raw(index)])
    return result


def set_item(array: Array, index: Any, value: Any) -> Array:
    new = array._value.copy()
    new[raw(index)] = raw(value)
    return record_call(operator.setitem, (array, index, value), {}, new)  # type: ignore[no-any-return]


def as_type(array: Array, dtype: Any, options: dict[str, Any]) -> Any:
    value = array._value.astype(dtype, **{"copy": True, **options})
    return record_call(as_type_of, (array,), {}, value)


def rebind(array: Array, new: Array) -> None:
    """Change an array in place: it takes over `new`, and so does what it is a view of."""
    array._take_over(new)
    if array._base is not None and array._recipe is not None:
        write_through(array._base, array._recipe, array)
        array._seen = array._base._version


def write_through(base: Array, recipe: Callable[[Any], Any], view: Array) -> None:
    """Writing into a view writes into what it is a view of."""
    places = recipe(np.arange(base.size).reshape(base.shape))
    new = base._value.copy()
    new.reshape(-1)[places] = view._value
    rebind(base, record_call(put_flat, (base, places, view), {}, new))


def _link(result: Any, value: Any, base: Any, recipe: Callable[[Any], Any]) -> None:
    """Remember that a result shares memory with its argument, as NumPy's own result does."""
    if not isinstance(base, Array) or not isinstance(value, np.ndarray) or not isinstance(result, Array):
        return
    whole = base._value
    if value.base is not None and value.base is (whole if whole.base is None else whole.base):
        result._base, result._recipe, result._seen = base, recipe, base._version

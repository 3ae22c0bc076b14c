"""Gives the traced array the operators and methods of a NumPy array, each by way of its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.tape import dispatch
from gradproof.tape.array import Array

_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "pow": np.power,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "matmul": np.matmul,
    "divmod": np.divmod,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
_COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

# Methods with the arguments of the function of the same name.
_METHODS = (
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "std",
    "var",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cumsum",
    "cumprod",
    "clip",
    "round",
    "ravel",
    "squeeze",
    "swapaxes",
    "repeat",
    "take",
    "trace",
    "diagonal",
    "nonzero",
    "ptp",
    "searchsorted",
    "compress",
    "dot",
    "copy",
)


def _left(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: dispatch.operate(ufunc, self, other)


def _right(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: dispatch.operate(ufunc, other, self)


def _in_place(ufunc: np.ufunc) -> Callable[..., Any]:
    def operate(self: Array, other: Any) -> Array:
        return dispatch.call_ufunc(ufunc, "__call__", (self, other), {"out": (self,)})  # type: ignore[no-any-return]

    return operate


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return dispatch.call_function(function, (self, *args), kwargs)

    method.__name__ = name
    method.__doc__ = f"As `np.{name}`."
    return method


def _reshape(self: Array, *shape: Any, order: str = "C") -> Any:
    return dispatch.call_function(
        np.reshape, (self, shape[0] if len(shape) == 1 else shape), {"order": order}
    )


def _transpose(self: Array, *axes: Any) -> Any:
    order = (
        None
        if not axes or axes == (None,)
        else axes[0]
        if len(axes) == 1 and not isinstance(axes[0], int)
        else axes
    )
    return dispatch.call_function(np.transpose, (self, order), {})


def _flatten(self: Array, order: str = "C") -> Any:
    return dispatch.call_function(np.copy, (dispatch.call_function(np.ravel, (self, order), {}),), {})


def _astype(self: Array, dtype: Any, **options: Any) -> Any:
    return dispatch.as_type(self, dtype, options)


def _fill(self: Array, value: Any) -> None:
    self[...] = value


def _sort(self: Array, axis: int = -1, **options: Any) -> None:
    dispatch.rebind(self, dispatch.call_function(np.sort, (self, axis), options))


def _array_ufunc(self: Array, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    return dispatch.call_ufunc(ufunc, method, inputs, kwargs)


def _array_function(self: Array, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return dispatch.call_function(function, args, kwargs)


def _copy(self: Array, memo: Any = None) -> Any:
    return dispatch.call_function(np.copy, (self,), {})


def _set_item(self: Array, index: Any, value: Any) -> None:
    dispatch.rebind(self, dispatch.set_item(self, index, value))


_OTHERS: dict[str, Any] = {
    "flat": property(lambda self: iter(self.ravel())),
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "astype": _astype,
    "fill": _fill,
    "sort": _sort,
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
    "__copy__": _copy,
    "__deepcopy__": _copy,
    "__getitem__": dispatch.get_item,
    "__setitem__": _set_item,
}
_PROPERTIES: dict[str, Any] = {"T": np.transpose, "mT": np.matrix_transpose, "real": np.real, "imag": np.imag}


def _property(function: Any) -> Any:
    return property(lambda self: dispatch.call_function(function, (self,), {}))


def _install() -> None:
    for name, ufunc in _BINARY.items():
        setattr(Array, f"__{name}__", _left(ufunc))
        setattr(Array, f"__r{name}__", _right(ufunc))
        if name != "divmod":
            setattr(Array, f"__i{name}__", _in_place(ufunc))
    for name, ufunc in _COMPARISONS.items():
        setattr(Array, f"__{name}__", _left(ufunc))
    for name, ufunc in _UNARY.items():
        setattr(
            Array,
            f"__{name}__",
            lambda self, ufunc=ufunc: dispatch.call_ufunc(ufunc, "__call__", (self,), {}),
        )
    for name in _METHODS:
        setattr(Array, name, _method(name))
    for name, method in _OTHERS.items():
        setattr(Array, name, method)
    for name in ("conj", "conjugate"):
        setattr(Array, name, lambda self: dispatch.call_ufunc(np.conjugate, "__call__", (self,), {}))
    for name, function in _PROPERTIES.items():
        setattr(
            Array,
            name,
            _property(function),
        )


_install()

"""Operands of a lowering: brought to the dtype NumPy computed in, and to the shapes the ops expect."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import NotSupported


def converted(m: Any, x: Traced, dtype: Any) -> Traced:
    """`x` in another dtype. Between real and complex numbers this is an op with a derivative of its own."""
    dtype = np.dtype(dtype)
    if x.value.dtype == dtype:
        return x
    if dtype.kind == "c":
        real = dtype.type(0).real.dtype
        if x.value.dtype.kind != "c":
            part = converted(m, x, real)
            return m.complex(part, m.constant(np.zeros(part.shape, real)))  # type: ignore[no-any-return]
    elif x.value.dtype.kind == "c":
        return converted(m, m.real(x), dtype)
    return m.cast(x, dtype=dtype.name)  # type: ignore[no-any-return]


def operand(m: Any, x: Any, dtype: Any) -> Traced:
    """An argument as the loop of a ufunc sees it; what is not traced becomes a constant.

    No function of NumPy forgets the imaginary part of a number: where the result is real and an argument complex,
    the function is not what its name says of real numbers.
    """
    if np.dtype(dtype).kind != "c" and np.asarray(values(x)).dtype.kind == "c":
        raise NotSupported("a real function of complex numbers")
    if isinstance(x, Traced):
        return converted(m, x, dtype)
    return m.constant(np.asarray(x).astype(dtype))  # type: ignore[no-any-return]


def real_operand(m: Any, x: Any) -> Traced:
    """An argument in its own dtype, with integers as float64, as NumPy makes them."""
    if isinstance(x, Traced):
        return converted(m, x, np.float64) if x.value.dtype.kind in "biu" else x
    array = np.asarray(x)
    return m.constant(array.astype(np.float64) if array.dtype.kind in "biu" else array)  # type: ignore[no-any-return]


def values(x: Any) -> Any:
    """The plain value of an argument that a lowering needs as a fact: an axis, a shape, places."""
    if isinstance(x, Traced):
        return x.value
    if isinstance(x, tuple | list):
        return type(x)(values(part) for part in x)
    return x


def common_dtype(*xs: Any) -> np.dtype[Any]:
    """The dtype NumPy brings operands to before it compares them; Python numbers adapt to arrays."""
    return np.result_type(*(x.value if isinstance(x, Traced) else x for x in xs))


def require_numbers(y: Any) -> None:
    """Integer arithmetic has no meaning in ops: its results are facts of the run."""
    if np.asarray(y).dtype.kind in "biu":
        raise NotSupported("integer arithmetic")


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction, counted from the front, in order."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(sorted(int(entry) % ndim for entry in given)) if ndim else ()


def scalar_constant(x: Any) -> complex | float | int | None:
    """The number, where an argument is a single one that no tape follows."""
    if isinstance(x, Traced) or np.ndim(x) or np.asarray(x).dtype.kind not in "biufc":
        return None
    number: complex | float | int = np.asarray(x).item()
    return number

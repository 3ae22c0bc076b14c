"""Which op or ops a NumPy function stands for; the modules beside this one fill the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Lowering = Callable[..., Any]  # (m, y, *args, **kwargs) -> traced result; y is NumPy's own result

LOWERINGS: dict[Any, Lowering] = {}

# Functions whose result may share memory with their first argument.
VIEWS: set[Any] = {
    np.reshape,
    np.ravel,
    np.transpose,
    np.matrix_transpose,
    np.swapaxes,
    np.moveaxis,
    np.rollaxis,
    np.squeeze,
    np.expand_dims,
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
    np.flip,
    np.fliplr,
    np.flipud,
    np.rot90,
}

# Functions that ask about an array and compute nothing a gradient could flow through.
PLAIN: set[Any] = {
    np.shape,
    np.ndim,
    np.size,
    np.result_type,
    np.can_cast,
    np.common_type,
    np.min_scalar_type,
    np.iscomplexobj,
    np.isrealobj,
    np.array_equal,
    np.array_equiv,
    np.allclose,
    np.array_repr,
    np.array_str,
    np.array2string,
    np.shares_memory,
    np.may_share_memory,
    np.broadcast_shapes,
}


def lowers(*functions: Any) -> Callable[[Lowering], Lowering]:
    """Enter a lowering for one or several functions; `(ufunc, method)` names a method of a ufunc."""

    def enter(lowering: Lowering) -> Lowering:
        for function in functions:
            if function in LOWERINGS:
                raise ValueError(f"{function} is lowered twice")
            LOWERINGS[function] = lowering
        return lowering

    return enter


def newer(*names: str) -> tuple[Any, ...]:
    """NumPy's functions of these names, of which an older NumPy has none."""
    return tuple(getattr(np, name) for name in names if hasattr(np, name))


def as_type_of(array: Any) -> Any:
    """Stands for the method `astype`; the dtype is read off the result."""
    return array


def put_flat(base: Any, places: Any, values: Any) -> Any:
    """Stands for writing into a view: entries of `base`, counted flat, are replaced."""
    new = base.copy()
    new.reshape(-1)[places] = values
    return new

"""The table of lowerings: what an op of TensorFlow means, in ops of the program.

A lowering is called with the arithmetic `m`, the recorded event and its inputs as traced arrays. It returns the
result, or a tuple of results where the op has several; None stands for a result that has no meaning as a number.
Integer inputs (axes, shapes, indices) are read with `ints(x)`: they are facts of the run, not of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced

Lower = Callable[..., Any]

TABLE: dict[str, Lower] = {}


def lower(*names: str) -> Callable[[Lower], Lower]:
    """Enter a function as the lowering of one or more TensorFlow ops."""

    def enter(function: Lower) -> Lower:
        for name in names:
            if name in TABLE:
                raise ValueError(f"{name} is lowered twice")
            TABLE[name] = function
        return function

    return enter


def lower_to(op: str, *names: str) -> None:
    """TensorFlow ops that are an op of ours under another name, with the same inputs and no attributes that matter."""
    lower(*names)(lambda m, event, *xs: getattr(m, op)(*xs))


def ints(x: Traced) -> tuple[int, ...]:
    """The entries of an integer tensor, flattened."""
    return tuple(int(entry) for entry in np.asarray(x.value).reshape(-1))


def axes_of(axes: Traced, x: Traced) -> tuple[int, ...]:
    """Reduction axes as TensorFlow passes them, counted from the front and without repetition."""
    return tuple(sorted({axis % max(x.ndim, 1) for axis in ints(axes)})) if x.ndim else ()

"""The user's inputs as plain numbers, and the way back to the type the function expects."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.calls import from_tensor
from gradproof.errors import InvalidInput
from gradproof.frameworks import all_frameworks

Rebuild = Callable[[NDArray[Any]], Any]


@dataclass(frozen=True)
class Input:
    """One argument: its numbers, and how to make an argument of other numbers."""

    values: NDArray[Any]  # in the dtype the function is called with
    rebuild: Rebuild
    plain: bool  # NumPy or Python: complex numbers and arrays of points may be tried
    promoted: bool  # integers that were taken as floats

    @property
    def is_scalar(self) -> bool:
        return self.values.ndim == 0


def as_input(x: Any, caller: str) -> Input:
    """An argument in the form the derivatives work on; refuses what has no derivative, and says why."""
    raw = from_tensor(x)
    try:
        values = np.asarray(raw)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{caller}() was given lists of unequal lengths as x\n  pass an array of numbers"
        ) from error
    _refuse(values, raw, caller)
    promoted = values.dtype.kind in "iu"
    values = values.astype(np.float64) if promoted else values
    if not np.isfinite(values).all():
        where = "x" if values.ndim == 0 else f"x{np.argwhere(~np.isfinite(values))[0].tolist()}"
        bad = values[~np.isfinite(values)].flat[0]
        raise InvalidInput(
            f"{caller}() needs a finite point, but {where} is {bad}\n  the slope there would be undefined"
        )
    return Input(values, _way_back(x, raw, values), raw is x, promoted)


def as_inputs(xs: Any, caller: str) -> tuple[Input, ...]:
    """A tuple of arguments; anything that is no tuple is one argument."""
    if isinstance(xs, tuple):
        if not xs:
            raise InvalidInput(f"{caller}() was given no argument to differentiate by")
        return tuple(as_input(x, caller) for x in xs)
    return (as_input(xs, caller),)


def _refuse(values: NDArray[Any], raw: Any, caller: str) -> None:
    kind = values.dtype.kind
    if kind == "c":
        raise InvalidInput(
            f"{caller}() differentiates by real numbers, but x is complex\n  pass its two parts as two inputs"
        )
    if kind not in "fiu":
        raise InvalidInput(
            f"{caller}() needs numbers as x, but was given {type(raw).__name__} ({values.dtype})"
        )
    if values.size == 0:
        raise InvalidInput(
            f"{caller}() was given an empty x of shape {values.shape}\n"
            "  there is no entry to differentiate by"
        )


def _way_back(x: Any, raw: Any, values: NDArray[Any]) -> Rebuild:
    if raw is not x:
        return _tensor_maker(x)
    if isinstance(x, float | int) and not isinstance(x, np.generic):
        return lambda numbers: numbers.item()
    if values.ndim == 0:
        return lambda numbers: numbers[()]
    # A copy, because a function may change what it is given.
    return lambda numbers: numbers.copy()


def _tensor_maker(x: Any) -> Rebuild:
    """The constructor of the framework x belongs to, which must have been imported to have made x."""
    if hasattr(x, "new_tensor"):
        return lambda numbers: x.detach().new_tensor(numbers, dtype=x.dtype)
    package = type(x).__module__.partition(".")[0]
    for one in all_frameworks():
        module = sys.modules.get(one.module) if package in one.packages else None
        if module is not None:
            make = getattr(module, one.constant)
            return lambda numbers: make(numbers, dtype=x.dtype)
    maker = type(x)
    return lambda numbers: maker(numbers)


def direction_like(direction: Any, inputs: Sequence[Input], caller: str) -> tuple[NDArray[np.float64], ...]:
    """A direction with one array per input, of the same shapes."""
    parts = direction if isinstance(direction, tuple) else (direction,)
    arrays = tuple(np.asarray(from_tensor(part), dtype=np.float64) for part in parts)
    if [array.shape for array in arrays] != [one.values.shape for one in inputs]:
        raise InvalidInput(
            f"{caller}() needs a direction shaped like x, {[one.values.shape for one in inputs]}, "
            f"but was given {[array.shape for array in arrays]}"
        )
    if not all(np.isfinite(array).all() for array in arrays) or not any(array.any() for array in arrays):
        raise InvalidInput(f"{caller}() needs a direction that is finite and not zero everywhere")
    return arrays

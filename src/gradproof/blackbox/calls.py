"""Calling the user's function: every answer counted, checked and turned into plain NumPy numbers."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradproof.errors import InvalidInput

Numbers = NDArray[Any]

# What a function raises when it is asked outside its domain. Anything else is a fault in the function.
OUTSIDE_DOMAIN = (ArithmeticError, ValueError)


@dataclass
class Calls:
    """A function and what is known of it so far; the one place where user code runs."""

    function: Callable[..., Any]
    name: str = ""
    n_points: int = 0  # points evaluated, whether one by one or as an array
    seconds: float = 0.0
    eps: float = 2.0**-52  # relative spacing of its values, as declared by their dtype or found to be
    declared_eps: float = 2.0**-52
    shape: tuple[int, ...] | None = None  # of the result, once known
    whole: bool = True  # whether every value so far came as an integer: a step function by its own word
    takes_many: bool | None = (
        None  # whether it works point by point on arrays of points; None before it was tried
    )

    def __post_init__(self) -> None:
        self.name = self.name or getattr(self.function, "__name__", None) or type(self.function).__name__

    def raw(self, *arguments: Any, n_points: int = 1) -> Any:
        """One call, with the warnings of NumPy silenced: leaving the domain is expected of a probe."""
        self.n_points += n_points
        started = time.perf_counter()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return self.function(*arguments)
        finally:
            self.seconds += time.perf_counter() - started

    def first(self, *arguments: Any) -> Numbers:
        """The value at the point itself: here a failure is the user's to know, not a limit of the domain."""
        try:
            raw = self.raw(*arguments)
        except Exception as error:
            raise InvalidInput(
                f"`{self.name}` raised {type(error).__name__} at the point itself: {error}\n"
                "  the derivative of a function needs a point where the function can be computed"
            ) from error
        value = as_numbers(raw, self.name)
        self.whole &= is_whole(raw)
        if np.iscomplexobj(value):
            raise InvalidInput(
                f"`{self.name}` returned a complex number for a real input\n"
                "  pass the real and the imaginary part as two functions"
            )
        self.shape = value.shape
        self._learn(value)
        return value.astype(np.float64)

    def elsewhere(self, *arguments: Any) -> Numbers:
        """The value at another point, NaN where the function is not defined."""
        shape = self.shape or ()
        try:
            raw = self.raw(*arguments)
        except OUTSIDE_DOMAIN:
            return np.full(shape, np.nan)
        except Exception as error:
            raise InvalidInput(
                f"`{self.name}` raised {type(error).__name__} close to the point: {error}\n"
                "  a derivative compares values around a point; the function has to answer there"
            ) from error
        value = as_numbers(raw, self.name)
        if value.shape != shape:
            raise InvalidInput(
                f"`{self.name}` returned shape {value.shape} close to a point where it returned {shape}\n"
                "  the result must keep its shape while the input moves"
            )
        if np.iscomplexobj(value):
            # NumPy's emath functions leave the real line instead of answering NaN.
            return np.full(shape, np.nan)
        self._learn(value)
        return value.astype(np.float64)

    def together(self, n_points: int, *arguments: Any) -> Numbers | None:
        """The values at several points given as one array; None where the function does not work so."""
        before = self.n_points
        try:
            value = as_numbers(self.raw(*arguments, n_points=n_points), self.name)
        except Exception:  # a function of one point may do anything with an array of points
            self.n_points = before + 1  # it gave up at one of them
            return None
        if value.shape != (n_points, *(self.shape or ())) or np.iscomplexobj(value):
            return None
        self._learn(value)
        return value.astype(np.float64)

    def same(self, one: Numbers, other: Numbers) -> bool:
        """Equal up to the last bits, in which loops over arrays may differ from single calls."""
        close = abs(one - other) <= 4 * self.eps * abs(other)
        return bool((close | (one == other) | (np.isnan(one) & np.isnan(other))).all())

    def _learn(self, value: Numbers) -> None:
        if value.dtype.kind == "f" and value.dtype.itemsize < 8:
            self.declared_eps = max(self.declared_eps, float(np.finfo(value.dtype).eps))
            self.eps = max(self.eps, self.declared_eps)


def as_numbers(raw: Any, name: str) -> Numbers:
    """A result as an array of real or complex numbers; anything else is refused in the user's words."""
    raw = from_tensor(raw)
    if raw is None:
        raise InvalidInput(
            f"`{name}` returned None\n"
            "  a function without `return` returns None; return the number it computes"
        )
    try:
        value = np.asarray(raw)
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            f"`{name}` returned lists of unequal lengths, which are no array\n"
            "  return an array of numbers, or one number"
        ) from error
    if value.dtype == object:
        value = _from_objects(value, name)
    if value.dtype.kind == "b" or value.dtype.kind in "iu":
        return value.astype(np.float64)
    if value.dtype.kind == "f" or value.dtype.kind == "c":
        return value
    if value.dtype.name == "bfloat16":
        return value.astype(np.float32)
    raise InvalidInput(
        f"`{name}` returned {_described(raw)}, which is not a number\n"
        "  return a number or an array of numbers"
    )


def is_whole(raw: Any) -> bool:
    """Whether a result is declared to be of whole numbers, or of truth values."""
    kind = getattr(getattr(from_tensor(raw), "dtype", None), "kind", None)
    return isinstance(raw, int) if kind is None else kind in "iub"


def _from_objects(value: Numbers, name: str) -> Numbers:
    """Fractions, decimals and big integers have a float; other objects do not."""
    try:
        return np.vectorize(float, otypes=[np.float64])(value) if value.size else value.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"`{name}` returned {_described(value.flat[0])}, which is not a number\n"
            "  return a number or an array of numbers"
        ) from error


def _described(raw: Any) -> str:
    if isinstance(raw, str):
        return f"the text {raw!r}"
    kind = type(raw).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def from_tensor(value: Any) -> Any:
    """The NumPy array inside a framework's tensor, told by its methods; other values as they are."""
    if isinstance(value, np.ndarray | np.generic | float | int | complex):
        return value
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return value.detach().cpu().numpy()
    if hasattr(value, "numpy") and callable(value.numpy):
        return value.numpy()
    return value

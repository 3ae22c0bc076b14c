"""A function that is to be checked at a point, and the rules for calling it and reading its result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gradproof.errors import FunctionFailed, InvalidInput, NotScalar
from gradproof.frontends.check.purity import Impurity
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span
from gradproof.ir.types import Array

Output = Callable[[Any], Any] | Literal["each"] | None


@dataclass(frozen=True, eq=False)
class Request:
    """What `check` was asked. `gradient` is the one written by hand, if there is one."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    gradient: Any = None
    order: int = 1
    output: Output = None

    @property
    def name(self) -> str:
        return name_of(self.function)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """What the function itself calls its arguments, positional ones first."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        names = []
        for k in range(len(self.args)):
            named = k < len(parameters) and parameters[k].kind not in (
                inspect.Parameter.VAR_POSITIONAL,
                inspect.Parameter.KEYWORD_ONLY,
            )
            names.append(parameters[k].name if named else f"argument {k + 1}")
        return (*names, *self.kwargs)

    def selected(self, result: Any) -> Any:
        """The part of the result that is checked."""
        if not callable(self.output):
            return result
        return called(self.output, f"output= for `{self.name}`", (result,), {})


@dataclass(frozen=True)
class WrongShape:
    """A gradient written by hand that does not have the shape of its argument; `hint` is the usual reason."""

    source: str
    dtype: str
    wanted: tuple[int, ...]
    found: tuple[int, ...]
    hint: str = ""


@dataclass(frozen=True)
class Left:
    """Numbers that left the framework and came back as constants though they move with some arguments."""

    how: str
    span: Span | None
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Checked:
    """What a frontend found out: the gradients to be examined, and what stands in their way."""

    framework: str
    captures: tuple[Capture, ...] = ()
    names: tuple[str, ...] = ()  # of all arguments that can be differentiated for
    impurity: Impurity | None = None
    wrong_shapes: tuple[WrongShape, ...] = ()
    left: Left | None = None


def name_of(function: Callable[..., Any]) -> str:
    """A name that can stand in a formula; a lambda has none and is called f."""
    name = getattr(function, "__name__", None) or type(function).__name__
    return "f" if name == "<lambda>" else str(name)


def definition_of(function: Callable[..., Any]) -> Span | None:
    """Where the function begins in the user's source; None for one that has no Python source."""
    function = inspect.unwrap(getattr(function, "func", function))
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return None if code is None else Span(code.co_filename, code.co_firstlineno, function=code.co_qualname)


def called(function: Callable[..., Any], what: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result; an exception of the user's function becomes a message that says which call raised it."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise FunctionFailed(f"{what} raised {type(error).__name__}: {error}") from error


def checked_result(value: Any, request: Request, allow_array: bool) -> Array:
    """The numbers of a result; what is no number, or more numbers than can be served, is refused by name."""
    name = request.name
    if value is None:
        raise InvalidInput(
            f"check() needs a function that returns a number, but `{name}` returned None\n"
            "  a function that ends without `return` returns None"
        )
    array = _numbers(value, name)
    if array.dtype.kind in "biu":
        raise InvalidInput(
            f"check() needs a function of real numbers, but `{name}` returned dtype {array.dtype}, "
            "which has no derivative"
        )
    if array.size != 1 and not allow_array:
        raise NotScalar(
            f"check() needs a function with one number as result, but `{name}` returned shape {array.shape}\n"
            '  to check one entry, pass `output=lambda y: y[0]`; to check all, pass `output="each"`'
        )
    return array


def _numbers(value: Any, name: str) -> Array:
    kind = type(value).__name__
    if isinstance(value, tuple | list | Mapping):
        raise InvalidInput(
            f"check() needs a function that returns one number or array, but `{name}` returned a {kind} with "
            f"{len(value)} items\n  to check one of them, pass for example `output=lambda y: y[0]`"
        )
    try:
        array = _array(value)
    except Exception as error:
        raise InvalidInput(f"`{name}` returned a {kind} that is not an array of numbers: {error}") from error
    if array.dtype.kind not in "biufc" and str(array.dtype) != "bfloat16":
        what = f"an array of dtype {array.dtype}" if isinstance(value, np.ndarray) else f"`{kind}`"
        raise InvalidInput(f"check() needs a function that returns a number, but `{name}` returned {what}")
    return array


def _array(value: Any) -> Array:
    """NumPy knows no bfloat16 by itself: a tensor of it has to be asked for its numbers."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        if not hasattr(value, "numpy"):
            raise
        return np.asarray(value.numpy())


def checked_input(array: Array, name: str) -> None:
    """A derivative needs a point: NaN and infinity are none."""
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = "".join(f"[{', '.join(map(str, bad[0]))}]") if array.ndim else ""
        value = array[tuple(bad[0])]
        raise InvalidInput(
            f"`{name}{index}` is {value}: a function has no derivative at a point that is not a number"
        )

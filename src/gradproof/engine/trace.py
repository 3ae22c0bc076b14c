"""An arithmetic that writes down what it computes: run a derivative in it, and the derivative is a program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.operators import Operators
from gradproof.ir import types
from gradproof.ir.program import Builder, Phase
from gradproof.ir.span import Span
from gradproof.ops import TABLE, Arithmetic


class Traced(Operators):
    """An array whose origin is written down: the node that made it, and its rounded value.

    A `weak` one was made of literals of a rule only: it takes the dtype of whatever it meets, as Python's
    numbers do, so that a zero in a rule does not turn a float32 gradient into a float64 one.
    """

    __slots__ = ("id", "value", "weak")

    def __init__(self, tracer: Tracer, id: int, value: Any, weak: bool = False) -> None:
        self.m, self.id, self.value, self.weak = tracer, id, value, weak

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        return int(self.value.ndim)


class Tracer(Arithmetic):
    """Every op called by name becomes a node; its recorded value is computed in `domain` (floating point)."""

    def __init__(self, builder: Builder, phase: Phase = "backward", domain: Any = None) -> None:
        super().__init__(_Quiet())
        self.builder = builder
        self.phase: Phase = phase
        self.span: Span | None = None
        self.scope: int | None = None
        self.inner = Arithmetic(domain or Ieee())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """An op becomes a method when it is first called for.

        A tracer that kept it itself would keep itself, and all numbers of its program, until the collector comes by.
        """
        if name not in TABLE:
            raise AttributeError(f"there is no op named {name!r}")

        def append(tracer: Tracer, *xs: Any, **params: Any) -> Any:
            return tracer._append(name, xs, params)

        setattr(Tracer, name, append)
        return cast(Callable[..., Any], getattr(self, name))

    def at(self, span: Span | None, scope: int | None) -> None:
        self.span, self.scope = span, scope

    def literal(self, array: Any) -> Any:
        array = np.asarray(array)
        if array.dtype.kind in "biu":
            return array
        constant = self.constant(array)
        constant.weak = True
        return constant

    def fit(self, gx: Any, x: Any) -> Any:
        if gx.value.dtype == x.value.dtype or gx.value.dtype.kind == "c":
            return gx
        if x.value.dtype.kind == "c":
            return self.complex(gx, np.zeros(gx.shape, gx.value.dtype))
        return self.cast(gx, dtype=types.dtype_name(x.value))

    def _append(self, name: str, xs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        numbers = [x for x in xs if isinstance(x, Traced) and x.value.dtype.kind not in "biu"]
        if len(numbers) == len(xs) and not any(x.weak for x in xs):
            arguments, like = list(xs), xs[0].value.dtype if xs else None
        else:
            like = next((x.value.dtype for x in numbers if not x.weak), None)
            arguments = [self._argument(x, like) for x in xs]
        if _changes_nothing(name, arguments, params):
            return arguments[0]
        y = self.record(name, arguments, self.compute(name, arguments, params), params)
        if numbers and like is None and isinstance(y, Traced) and y.value.dtype.kind not in "biu":
            y.weak = True
        return y

    def compute(self, name: str, arguments: list[Traced], params: dict[str, Any]) -> Any:
        """The value an op has in floating point; the same arguments always give the same."""
        with self.inner.domain.active():
            value = getattr(self.inner, name)(*(argument.value for argument in arguments), **params)
        return value if name == "cast" else _as_narrow(value, arguments)

    def _argument(self, x: Any, like: Any) -> Traced:
        if not isinstance(x, Traced):
            return self.constant(x, like)
        if not x.weak or like is None or x.value.dtype == like or like.kind == "c":
            return x
        narrow = x.value.astype(like)
        is_exact = np.array_equal(narrow.astype(x.value.dtype), x.value)
        return self.constant(narrow) if is_exact else x  # what a rule means must not change

    def record(self, name: str, arguments: list[Traced], value: Any, params: dict[str, Any]) -> Any:
        """Append a node whose value is known; several results come back as a tuple of traced items."""
        several = isinstance(value, tuple)
        value = tuple(np.asarray(part) for part in value) if several else np.asarray(value)
        ids = [argument.id for argument in arguments]
        place: dict[str, Any] = {"span": self.span, "phase": self.phase, "scope": self.scope}
        id = self.builder.add(name, *ids, value=value, params=params, **place)
        if not isinstance(value, tuple):
            return Traced(self, id, value)
        return tuple(Traced(self, self._item(id, k, part), part) for k, part in enumerate(value))

    def _item(self, id: int, index: int, value: Any) -> int:
        place: dict[str, Any] = {"span": self.span, "phase": self.phase, "scope": self.scope}
        return self.builder.add("item", id, params={"index": index}, value=value, **place)

    def constant(self, x: Any, like: Any = None) -> Traced:
        """A constant node; Python numbers take the dtype of their partner `like`, as in NumPy."""
        array = np.asarray(x)
        if like is not None and isinstance(x, (int, float)) and not isinstance(x, bool):
            array = array.astype(like)
        return Traced(self, self.builder.constant(array, self.span, self.phase), array)


def _as_narrow(value: Any, arguments: list[Traced]) -> Any:
    """Real results in the one dtype of the real arguments: constants inside an op must not widen it."""
    if isinstance(value, tuple):
        return tuple(_as_narrow(part, arguments) for part in value)
    if isinstance(value, np.ndarray) and all(argument.value.dtype is value.dtype for argument in arguments):
        return value
    dtypes = {argument.value.dtype for argument in arguments if argument.value.dtype.kind not in "biuc"}
    is_real = np.asarray(value).dtype.kind not in "biuc"
    return np.asarray(value).astype(dtypes.pop(), copy=False) if is_real and len(dtypes) == 1 else value


def _changes_nothing(name: str, arguments: list[Traced], params: dict[str, Any]) -> bool:
    """Derivative rules are written for the general case; its trivial instances need no node."""
    if name in ("reshape", "broadcast", "sum_to"):
        return arguments[0].shape == tuple(params["shape"])
    return name in ("conj", "real") and arguments[0].value.dtype.kind != "c"


class _Quiet:
    """The face of a domain that the engine needs from a tracer."""

    name = "tracing"

    def active(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def settle(self, y: Any, dtype: str) -> Any:
        del dtype
        return y

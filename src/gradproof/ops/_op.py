"""What an op is, the table of all ops, and the arithmetic that lets a domain be used like the module `math`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from gradproof.errors import NotSupported

Linear = Literal["jointly", "each"] | None
# The two operands entry by entry; a number and a half-integer; numbers along an axis; all operands with all.
Compares = Literal["pair", "grid", "line", "all"]
Kind = Literal["real", "complex"]
REAL: frozenset[Kind] = frozenset({"real"})
COMPLEX: frozenset[Kind] = frozenset({"complex"})
ANY: frozenset[Kind] = REAL | COMPLEX


@dataclass(frozen=True)
class Sample:
    """Inputs (nested tuples of numbers) and parameters on which the contract test runs an op."""

    inputs: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Op:
    """A function and its derivative, written once for every number domain.

    `m` is the arithmetic of a domain, used the way one uses the module `math`: `m.exp(x)`, `m.matmul(a, b)`,
    any op by its name. `y` is the result, already computed. Without `forward` each domain brings a kernel of
    the op's name. Give `slopes` for a function applied entry by entry (one per input; the engine handles
    broadcasting and the chain rule), `pullback` for everything else: it returns the gradient for input `i`.

    `linear` says "jointly" (in all its real inputs together: reshape, sum, select) or "each" (in each of
    them alone: matmul, convolution); forward mode then needs nothing more.
    `margin` makes an op a decision: its result is discrete, and the margin is positive where the result is
    what exact arithmetic gives, zero at a tie, negative where another branch would have been taken.
    `kinds` are the kinds of numbers for which the contract has tried the op; with others no verdict rests on it.
    """

    name: str
    forward: Callable[..., Any] | None = None  # (m, *xs, **params) -> y
    slopes: tuple[Callable[..., Any] | None, ...] | None = None  # each (m, y, *xs, **params) -> dy/dx
    pullback: Callable[..., Any] | None = None  # (m, i, gy, y, *xs, **params) -> gx of input i
    linear: Linear = None
    margin: Callable[..., Any] | None = None  # (m, y, *xs, **params) -> margins
    decide_near: Callable[..., Any] | None = None  # (y, xs, xs_dot, **params) -> y an instant further on
    compares: Compares = "pair"  # what meets at a tie of this decision
    knows_alike: bool = False  # `margin` takes labels of the entries, `alike`: the winner's own are no rivals
    samples: tuple[Sample, ...] = ()
    edges: tuple[float, ...] = ()  # inputs where the slope jumps or is unbounded
    n_outputs: int = 1
    moves_only: bool = False  # the op moves entries and changes none, so it never rounds
    kinds: frozenset[Kind] = REAL

    @property
    def is_decision(self) -> bool:
        return self.margin is not None


TABLE: dict[str, Op] = {}


def op(name: str, **fields: Any) -> Op:
    """Define an op and enter it into the table. Plain tuples of numbers are accepted as samples."""
    if name in TABLE:
        raise ValueError(f"op {name!r} is defined twice")
    samples = tuple(s if isinstance(s, Sample) else Sample(s) for s in fields.pop("samples", ()))
    TABLE[name] = Op(name=name, samples=samples, **fields)
    return TABLE[name]


class Arithmetic:
    """All ops by name, with the meaning a domain gives them: its own kernel if it has one, else the op's forward."""

    def __init__(self, domain: Any) -> None:
        self.domain = domain

    def literal(self, array: Any) -> Any:
        """An exact NumPy array as an array of the domain; booleans and integers stay what they are."""
        array = np.asarray(array)
        return array if array.dtype.kind in "biu" else self.domain.enter(array)

    def at(self, span: Any, scope: int | None) -> None:
        """Told by the engine whose derivative comes next; an arithmetic that writes programs keeps the source line."""

    def fit(self, gx: Any, x: Any) -> Any:
        """A gradient in the dtype of what it is the gradient of, where an arithmetic has dtypes."""
        del x
        return gx

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return self.literal(np.zeros(shape))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        meaning = self._meaning(name)
        setattr(self, name, meaning)  # the next look-up costs nothing
        return meaning

    def _meaning(self, name: str) -> Callable[..., Any]:
        kernel: Callable[..., Any] | None = getattr(self.domain, name, None)
        if kernel is not None:
            return kernel
        if name not in TABLE:
            raise AttributeError(f"there is no op named {name!r}")
        forward = TABLE[name].forward
        if forward is None:
            raise NotSupported(f"{self.domain.name} cannot evaluate `{name}`")
        return partial(forward, self)

"""Random NumPy functions that can be evaluated twice: by NumPy on a tape, and to sixty digits by mpmath."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

LENGTH = 3
MATRIX = np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5], [-0.25, 2.0, 1.0]])  # exact in every dtype


class SixtyDigits:
    """The functions of NumPy that the random functions use, on object arrays of mpmath's numbers.

    `taken` are the decisions made, so that a run in which rounding took another branch can be told apart: the
    true gradient is that of the branch taken.
    """

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        scalar = {"arctan": mpmath.atan, "abs": abs}.get(name) or getattr(mpmath, name)
        return lambda x: np.frompyfunc(scalar, 1, 1)(x)

    def _decide(self, condition: Any) -> Any:
        self.taken.append(np.asarray(condition, bool).tolist())
        return np.asarray(condition, bool)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return np.where(self._decide(condition), a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        return np.where(self._decide(a >= b), a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return np.where(self._decide(a <= b), a, b)

    def abs(self, x: Any) -> Any:
        return np.where(self._decide(x >= 0), x, -x)

    def sort(self, x: Any) -> Any:
        self.taken.append(np.argsort(x, kind="stable").tolist())
        return np.sort(x, kind="stable")

    def matmul(self, x: Any) -> Any:
        products = [[entry * MATRIX[i, k] for i, entry in enumerate(x)] for k in range(LENGTH)]
        return np.array([sum(terms, mpmath.mpf(0)) for terms in products])

    sum, cumsum = staticmethod(np.sum), staticmethod(np.cumsum)
    roll, concatenate = staticmethod(np.roll), staticmethod(np.concatenate)


class Plain:
    """The same names, straight from NumPy."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(np, name)  # type: ignore[no-any-return]

    def _note(self, decision: Any) -> None:
        self.taken.append(decision.tolist())

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        self._note(condition)
        return np.where(condition, a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        self._note(a >= b)
        return np.maximum(a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        self._note(a <= b)
        return np.minimum(a, b)

    def abs(self, x: Any) -> Any:
        self._note(x >= 0)
        return np.abs(x)

    def sort(self, x: Any) -> Any:
        self._note(np.argsort(x, kind="stable"))
        return np.sort(x)

    def matmul(self, x: Any) -> Any:
        return x @ MATRIX.astype(x.dtype)


Step = Callable[[Any, Any, Any], Any]  # (functions, this value, another value) -> next value

STEPS: tuple[Step, ...] = (
    lambda f, x, y: f.sin(x),
    lambda f, x, y: f.cos(x * 2),
    lambda f, x, y: f.tanh(x),
    lambda f, x, y: f.arctan(x),
    lambda f, x, y: f.exp(x / 4),
    lambda f, x, y: f.expm1(x / 8),
    lambda f, x, y: f.log(x * x + 1),
    lambda f, x, y: f.sqrt(x * x + 0.5),
    lambda f, x, y: 1 / (x * x + 1),
    lambda f, x, y: x * x,
    lambda f, x, y: x**3 / 8,
    lambda f, x, y: x + y,
    lambda f, x, y: x - y / 2,
    lambda f, x, y: x * y,
    lambda f, x, y: x / (y * y + 2),
    lambda f, x, y: f.maximum(x, y),
    lambda f, x, y: f.minimum(x, y * 2),
    lambda f, x, y: f.where(x > y, x * 2, f.sin(y)),
    lambda f, x, y: f.abs(x) + y,
    lambda f, x, y: f.cumsum(x),
    lambda f, x, y: f.sort(x) * y,
    lambda f, x, y: f.roll(x, 1) - x,
    lambda f, x, y: x[::-1] * 0.75,
    lambda f, x, y: x - f.sum(x) / 4,
    lambda f, x, y: f.matmul(x),
    lambda f, x, y: f.concatenate([x[1:], y[:1]]),
    lambda f, x, y: (x + 1024) - 1024 + y,  # digits are lost here
)


@dataclass(frozen=True)
class RandomFunction:
    """A chain of steps, each of the value before it and of an earlier one."""

    steps: tuple[tuple[int, int], ...]
    point: np.ndarray[Any, Any]

    def __call__(self, functions: Any, x: Any) -> Any:
        values = [x]
        for step, other in self.steps:
            values.append(STEPS[step](functions, values[-1], values[other]))
        return functions.sum(values[-1])


def random_function(seed: int) -> RandomFunction:
    rng = np.random.default_rng(seed)
    n_steps = int(rng.integers(1, 9))
    steps = tuple((int(rng.integers(len(STEPS))), int(rng.integers(k + 1))) for k in range(n_steps))
    dtype = np.float32 if rng.random() < 0.5 else np.float64
    return RandomFunction(steps, rng.normal(size=LENGTH).astype(dtype))


def exact_decisions(function: RandomFunction) -> list[Any]:
    functions = SixtyDigits()
    function(functions, np.array([mpmath.mpf(float(entry)) for entry in function.point], dtype=object))
    return functions.taken


def true_gradient(function: RandomFunction) -> list[Any]:
    """Central differences over a step of 1e-60, to be taken with several hundred digits."""
    step = mpmath.mpf(10) ** -60
    start = [mpmath.mpf(float(entry)) for entry in function.point]
    slopes = []
    for k in range(LENGTH):
        ends = []
        for sign in (1, -1):
            moved = np.array(start, dtype=object)
            moved[k] = moved[k] + sign * step
            ends.append(function(SixtyDigits(), moved))
        slopes.append((ends[0] - ends[1]) / (2 * step))
    return slopes

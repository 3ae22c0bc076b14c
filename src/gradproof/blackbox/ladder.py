"""The values of a function at steps to both sides of a point, ordered by step."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.calls import Calls, Numbers
from gradproof.blackbox.grid import Floats, Grid

WORTH_A_BATCH = 3  # points; fewer are called one by one
SMALLEST_EXPONENT = -700  # around zero there is no spacing to stop at, only the end of the normal numbers


@dataclass
class LadderLine:
    """A function along one line through the point; values are kept, so no step is paid for twice."""

    calls: Calls
    place: Callable[[float], tuple[Any, ...]]  # a step along the line -> the arguments of the function
    size: float  # size of the point along the line; 0 where it says nothing
    grain: float  # the spacing of the numbers at the point, in steps
    step_dtype: Any = np.float64
    complex_place: Callable[[complex], tuple[Any, ...]] | None = None
    many: Callable[[Sequence[float]], tuple[Any, ...]] | None = None  # several steps as one argument
    origin: float = 0.0  # the coordinate itself, where the line follows a single one
    known: dict[float, Numbers] = field(default_factory=dict)
    known_complex: dict[complex, Numbers | None] = field(default_factory=dict)
    entry: int = 0  # which entry of the result is looked at
    side: int = 0  # +1 or -1: only this side of the point exists, the other is its mirror image
    grid: Grid | None = None  # on which the values turned out to lie

    def value(self, step: float) -> float:
        if self.side and step * self.side < 0:
            # Reflected through the point, so that symmetric differences become one-sided ones.
            return 2 * self.value(0.0) - self.value(-step)
        if step not in self.known:
            self.known[step] = self.calls.elsewhere(*self.place(step))
        return float(self.known[step].reshape(-1)[self.entry])

    def snapped(self, step: float) -> float:
        """The nearest step that the floating-point numbers around the point can really take."""
        if self.origin == 0.0:
            return step
        return float(self.step_dtype(self.origin + step)) - self.origin

    def fetch(self, steps: Sequence[float]) -> None:
        """All steps in one call, where the function is seen to work point by point on arrays."""
        if self.side:
            steps = [step for step in steps if step * self.side > 0]
        missing = [step for step in steps if step not in self.known]
        if self.many is None or len(missing) < WORTH_A_BATCH or self.calls.takes_many is False:
            return
        if self.calls.takes_many is None:
            self._try_many(missing.pop(0))
        if self.calls.takes_many:
            self.known.update(zip(missing, self._many(missing)))

    def _try_many(self, step: float) -> None:
        """Two points as one array must give the two values that two calls give."""
        self.value(step)
        values = self._many([step])
        self.calls.takes_many = len(values) == 1 and self.calls.same(values[0], self.known[step])

    def _many(self, steps: Sequence[float]) -> list[Numbers]:
        """The values at the steps. The point itself goes along: if it comes out changed, nothing counts."""
        assert self.many is not None
        values = self.calls.together(len(steps) + 1, *self.many([0.0, *steps]))
        if values is None or not self.calls.same(values[0], self.known[0.0]):
            self.calls.takes_many = False
            return []
        return list(values[1:])


@dataclass(frozen=True)
class Ladder:
    """Pairs of values f(x + h), f(x - h) with rising h, and what follows from them."""

    centre: float
    exponents: tuple[int, ...]
    steps: Floats
    plus: Floats
    minus: Floats
    eps: float
    grid: Grid | None = None  # on which the values turned out to lie
    size: float = 0.0  # of the point, along the line

    @property
    def odd(self) -> Floats:
        return (self.plus - self.minus) / 2

    @property
    def even(self) -> Floats:
        return (self.plus - self.centre) / 2 + (self.minus - self.centre) / 2

    @property
    def central(self) -> Floats:
        return self.odd / self.steps

    @property
    def right(self) -> Floats:
        return (self.plus - self.centre) / self.steps

    @property
    def left(self) -> Floats:
        return (self.centre - self.minus) / self.steps

    @property
    def largest(self) -> Floats:
        return np.maximum(np.maximum(abs(self.plus), abs(self.minus)), abs(self.centre))

    @property
    def rounding(self) -> Floats:
        """The least error of the values at each step: one unit in the last place, or the grid they lie on."""
        largest = self.largest
        least = self.eps * largest
        return least if self.grid is None else np.maximum(least, self.grid.at(largest))

    @property
    def flat(self) -> NDArray[np.bool_]:
        """Steps that change nothing at all: they tell of rounding, not of a slope."""
        return np.asarray((self.plus == self.centre) & (self.minus == self.centre))

    def where(self, kept: NDArray[np.bool_]) -> "Ladder":
        exponents = tuple(e for e, keep in zip(self.exponents, kept) if keep)
        arrays = (self.steps[kept], self.plus[kept], self.minus[kept])
        return Ladder(self.centre, exponents, *arrays, self.eps, self.grid, self.size)

    def both(self) -> "Ladder":
        return self.where(np.isfinite(self.plus) & np.isfinite(self.minus))


def unit_of(line: LadderLine) -> float:
    """A power of two near the size of the point: the step of exponent 0."""
    return float(2.0 ** np.floor(np.log2(line.size))) if line.size > 0 else 1.0


def least_exponent(line: LadderLine) -> int:
    """Below it a step is only a few spacings of the floating-point numbers, or not a normal number."""
    if line.grain <= 0:
        return SMALLEST_EXPONENT
    return int(np.ceil(np.log2(8 * line.grain / unit_of(line))))


def ladder(line: LadderLine, exponents: Iterable[int]) -> Ladder:
    """The pairs at the steps unit * 2**e."""
    ordered = sorted(set(exponents))
    unit = unit_of(line)
    steps = [line.snapped(unit * 2.0**e) for e in ordered]
    line.fetch([sign * step for step in steps for sign in (1, -1)])
    plus = np.array([line.value(step) for step in steps])
    minus = np.array([line.value(-step) for step in steps])
    eps, grid = line.calls.eps, line.grid
    return Ladder(line.value(0.0), tuple(ordered), np.array(steps), plus, minus, eps, grid, line.size)

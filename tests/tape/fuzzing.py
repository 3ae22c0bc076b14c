"""Random programs over all functions of the tape, and what differences of NumPy's own calls say of their gradients.

A program is a chain of the cases of the tape, real or complex: every argument of a case is moved a little by a number
that depends on all entries of x, and what comes out moves the arguments of the next one. The slope along a random
direction comes from calls of NumPy alone, in float64, at two distances, extrapolated; nothing of ours takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradproof.tape import GradientTape, Missing

from .cases import CASES
from .complex_cases import complex_cases

Array = np.ndarray[Any, Any]
How = Literal["gradient", "second", "jacobian"]
MOVE = 2.0**-5
_HOW: tuple[How, ...] = ("gradient", "gradient", "second", "jacobian")
# Loops until a number is small enough stop elsewhere in float32, and steps of a staircase are met.
LEFT_OUT = {"newton", "complex newton", "loop"}
REAL = {name: (function, points) for name, function, points in CASES if name not in LEFT_OUT}
COMPLEX = {name: case for name, case in complex_cases().items() if name not in LEFT_OUT}


@dataclass(frozen=True)
class Step:
    """A case with the directions its arguments move in and the weights of its results."""

    name: str
    function: Callable[..., Any]
    points: tuple[Array, ...]
    moves: tuple[Array, ...]
    seed: int

    def __call__(self, share: Any) -> Any:
        """A real number: the weighted sum of all results, with the arguments moved by `share`."""
        xs = [
            point * (1 + move * share) if point.dtype.kind in "fc" else point
            for point, move in zip(self.points, self.moves, strict=True)
        ]
        y = self.function(*xs)
        weights = np.random.default_rng(self.seed).uniform(0.5, 1.5, (2, *np.shape(y)))
        total = np.sum(np.real(y) * weights[0])
        return total + np.sum(np.imag(y) * weights[1]) if y.dtype.kind == "c" else total


@dataclass(frozen=True)
class Program:
    """Two real numbers of an array x, and the way their derivative is asked for."""

    seed: int
    point: Array
    weights: Array
    steps: tuple[Step, ...]
    how: How

    def __call__(self, x: Any) -> Any:
        total = np.sum(_parts(x) * self.weights)
        values = [total * total]
        share = total / (1 + total * total)
        for step in self.steps:
            value = step(share)
            values.append(value * (1 + share))
            share = share + value / (1 + value * value)
        return np.stack([sum(values[1:], values[0]), values[-1]])

    def slope_number(self, x: Any) -> Any:
        """A real number made of the first derivative, as the tape computes it."""
        with GradientTape() as tape:
            x = tape.watch(x)
            y = self(x)[0]
        g = tape.gradient(y, x)
        return g if isinstance(g, Missing) else np.sum(_parts(g) * self.weights[::-1])

    def asked(self) -> Any:
        """The derivative as a user asks for it."""
        with GradientTape() as tape:
            x = tape.watch(self.point)
            y = self.slope_number(x) if self.how == "second" else self(x)
            y = y[0] if self.how == "gradient" else y
        if isinstance(y, Missing):
            return y
        return tape.jacobian(y, x) if self.how == "jacobian" else tape.gradient(y, x)

    def plain(self, x: Array) -> Array:
        """What is differentiated; the function alone is NumPy's, a first derivative the tape's."""
        if self.how == "second":
            return np.asarray(self.slope_number(x), np.float64)
        y = self(x)
        return np.asarray(y if self.how == "jacobian" else y[0], np.float64)


def _parts(x: Any) -> Any:
    return np.concatenate([np.real(x), np.imag(x)]) if x.dtype.kind == "c" else x


def random_program(seed: int) -> Program:
    rng = np.random.default_rng(seed)
    is_complex = bool(rng.random() < 0.5)
    cases = COMPLEX if is_complex else REAL
    steps = []
    for _ in range(1 if rng.random() < 0.7 else 2):
        name = list(cases)[int(rng.integers(len(cases)))]
        function, given = cases[name]
        points = tuple(np.asarray(point) for point in given)
        moves = tuple(rng.uniform(0.5, 1.5, x.shape) * rng.choice([-1, 1], x.shape) * MOVE for x in points)
        if is_complex:
            moves = tuple(move * (1 + 0.5j) for move in moves)
        steps.append(Step(name, function, points, moves, int(rng.integers(2**31))))
    point = rng.uniform(0.2, 1.0, 3) * rng.choice([-1, 1], 3)
    point = point + 1j * rng.uniform(0.2, 1.0, 3) if is_complex else point
    weights = rng.uniform(0.3, 1.0, 6 if is_complex else 3)
    how = _HOW[int(rng.integers(len(_HOW)))]
    return Program(seed, point, weights, tuple(steps), how)


def slope_along(program: Program, direction: Array) -> tuple[Array, float] | None:
    """The slope of what is differentiated, and how far it can be trusted; None where differences do not settle."""

    def central(step: float) -> Array:
        ahead, behind = (program.plain(program.point + sign * step * direction) for sign in (1, -1))
        return (ahead - behind) / (2 * step)

    rough = [central(2.0**-7), central(2.0**-8)]
    best = (4 * rough[1] - rough[0]) / 3
    spread = float(np.max(np.abs(best - rough[1])))
    size = float(np.max(np.abs(best))) + 1e-3
    if not np.isfinite(best).all() or spread > 1e-2 * size:
        return None
    return best, 0.01 * spread + 2e-6 * size

"""The derivative of an op that can only be computed: by differences, entry by entry or along random directions.

Directions cost the same however many inputs there are. They check a candidate, which the framework's own rule gives:
if it were off by a vector d, its slope along a random direction v would be off by d.v, which is about as large as d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.blackbox.derivative import directional, gradient
from gradproof.blackbox.result import Derivative
from gradproof.clock import tick
from gradproof.errors import GradproofError, NoDerivative
from gradproof.ir import types
from gradproof.ir.kernel import Kernel
from gradproof.ir.types import Array

MAX_ENTRIES = 64  # inputs that are moved one by one: some 30 runs of the op each
DIRECTIONS = 4
# A candidate that is off by this many times what its slopes show along a direction is seen along one of four with
# probability 1 - (0.8 / 40)**4, which is all but one in six million.
SURE = 40.0
SAFETY = (
    4.0  # times the error bar of a single difference: bars cover the truth in 99 of 100 cases, not in all
)
CLEARLY_OFF = 1e-2  # of a slope: differences this far from a rule are no accident of theirs
COARSE_STEPS = (2.0**-7, 2.0**-10, 2.0**-14)  # of the size of the inputs
CONFIRMED = 0.1  # of what is to be told apart: how close a coarse difference has to come
PERTURBATIONS = 3
ROUNDINGS = 8.0  # of inputs and result that the value of an op is taken to be known up to
UNSTEADY = 0.1  # of the largest entry: a change of roundings that makes this much of it is no rounding
_SEED = 7


@dataclass(frozen=True)
class PulledBack:
    """What reaches each of the inputs that move, with an error bar per entry, and how it was found."""

    values: tuple[Array, ...]
    errors: tuple[Array, ...]
    how: str


def value_of(kernel: Kernel, xs: Sequence[Array], radii: Sequence[Array | None]) -> tuple[Array, Array]:
    """The result at `xs`, and how far it may be off: by its own rounding, and because the inputs may be."""
    eps = _eps(kernel)
    rng = np.random.default_rng(_SEED)
    centre = _computed(kernel, xs)
    rad = ROUNDINGS * eps * np.abs(centre)
    for _ in range(PERTURBATIONS):
        moved = [
            x if radius is None else x + rng.choice((-1.0, 1.0), x.shape) * (radius + eps * np.abs(x))
            for x, radius in zip(xs, radii)
        ]
        rad = np.maximum(rad, ROUNDINGS * np.abs(_computed(kernel, moved) - centre))
    if (rad > UNSTEADY * np.abs(centre).max(initial=0.0)).any():
        raise NoDerivative("its result jumps when its inputs change in their last digit")
    return centre, rad


def _computed(kernel: Kernel, xs: Sequence[Array]) -> Array:
    try:
        return wide(kernel(*xs))
    except ValueError as error:
        raise NoDerivative(f"it cannot be computed again by itself: {error}") from error


def wide(array: Any) -> Array:
    """Real or complex numbers of 64 bits a part."""
    return np.asarray(array, np.complex128 if np.iscomplexobj(array) else np.float64)


def pulled_back(kernel: Kernel, xs: Sequence[Array], moving: Sequence[int], gy: Array) -> PulledBack:
    """The gradient of <gy, kernel(xs)> for the inputs at the places `moving`; of complex ones, the real part."""
    function = _Weighted(kernel, tuple(xs), tuple(moving), gy)
    if not gy.any():
        return function.split(np.zeros(function.start.size), np.zeros(function.start.size), "of zero")
    rule = _candidate(kernel, xs, moving, gy)
    try:
        if function.start.size <= MAX_ENTRIES:
            return _entry_by_entry(function, rule)
        return _along_directions(function, rule)
    except NoDerivative:
        raise
    except GradproofError as error:
        raise NoDerivative(f"differences cannot be had: {str(error).splitlines()[0]}") from error


class _Weighted:
    """<gy, kernel(xs)> as a function of the moving inputs, flattened into one vector."""

    def __init__(self, kernel: Kernel, xs: tuple[Array, ...], moving: tuple[int, ...], gy: Array) -> None:
        self.kernel, self.xs, self.moving, self.gy = kernel, xs, moving, gy
        self.dtype = types.numpy_dtype(kernel.dtype)
        self.start = np.concatenate([np.ravel(xs[k]) for k in moving]).astype(self.dtype)

    def __call__(self, z: Array) -> Any:
        if z.shape != self.start.shape or z.dtype != self.dtype:
            raise ValueError("one vector of real numbers at a time")
        tick()
        xs = list(self.xs)
        for k, part in zip(self.moving, self._parts(z)):
            xs[k] = part
        # In the dtype of the op, so that its own rounding is not taken for structure.
        return self.dtype.type(np.sum(np.real(np.conj(self.gy) * wide(self.kernel(*xs)))))

    def _parts(self, z: Array) -> tuple[Array, ...]:
        shapes = [self.xs[k].shape for k in self.moving]
        ends = np.cumsum([int(np.prod(shape, dtype=np.int64)) for shape in shapes])[:-1]
        return tuple(part.reshape(shape) for part, shape in zip(np.split(z, ends), shapes))

    def split(self, values: Array, errors: Array, how: str) -> PulledBack:
        return PulledBack(self._parts(values), self._parts(errors), how)


def _candidate(kernel: Kernel, xs: Sequence[Array], moving: Sequence[int], gy: Array) -> Array | None:
    found = kernel.rule(gy, *xs)
    if found is None:
        return None
    parts = [np.zeros(xs[k].shape) if found[k] is None else np.asarray(found[k], np.float64) for k in moving]
    if any(part.shape != xs[k].shape or not np.isfinite(part).all() for part, k in zip(parts, moving)):
        return None
    return np.concatenate([np.ravel(part) for part in parts])


def _entry_by_entry(function: _Weighted, rule: Array | None) -> PulledBack:
    found = gradient(function, function.start)
    odd = next((entry for entry in found.entries if entry.status != "ok"), None)
    if odd is not None:
        raise NoDerivative(f"differences find no slope: {_why(odd)}")
    errors = SAFETY * found.error
    slack = errors + _eps(function.kernel) * float(np.abs(found.value).max())
    if rule is None or (np.abs(rule - found.value) > slack).any():
        _confirm(function, found.value, rule)
    return function.split(found.value, errors, "entry by entry")


def _confirm(function: _Weighted, slopes: Array, rule: Array | None) -> None:
    """Refuse slopes that only tiny steps have seen.

    An op may compute in fewer digits than its dtype has. It is a staircase then, and tiny steps see the treads. Coarse
    steps must side with the slopes: against the rule, along the direction in which the two differ most.
    """
    direction = slopes if rule is None else rule - slopes
    direction = direction / np.linalg.norm(direction) if direction.any() else direction
    expected = float(slopes @ direction)
    off = abs(expected) if rule is None else abs(float(rule @ direction) - expected)
    scale = float(np.abs(function.start).max()) or 1.0
    for step in COARSE_STEPS:
        ahead, behind = (
            float(function((function.start + sign * step * scale * direction).astype(function.dtype)))
            for sign in (1.0, -1.0)
        )
        if not abs((ahead - behind) / (2 * step * scale) - expected) <= CONFIRMED * off:
            raise NoDerivative("differences with small steps and with large ones do not agree on a slope")


def _along_directions(function: _Weighted, rule: Array | None) -> PulledBack:
    n = function.start.size
    if rule is None:
        raise NoDerivative(f"{n:,} inputs are too many to move one by one, and there is no rule to check")
    rng = np.random.default_rng(_SEED)
    seen = 0.0
    for _ in range(DIRECTIONS):
        direction = rng.standard_normal(n)
        slope = directional(function, function.start, direction)
        assert isinstance(slope, Derivative)
        if slope.status != "ok":
            raise NoDerivative(f"differences find no slope along a random direction: {_why(slope)}")
        expected = float(rule @ direction)
        off, bar = abs(expected - slope.value), SAFETY * slope.error
        if off > SURE * bar and off > CLEARLY_OFF * abs(slope.value):
            raise NoDerivative(
                f"along a random direction its own rule gives the slope {expected:.6g}, "
                f"and differences give {slope.value:.6g} ± {bar:.1e}"
            )
        seen = max(seen, off + bar)
    return function.split(rule, np.full(n, SURE * seen), f"along {DIRECTIONS} random directions")


def _why(slope: Derivative) -> str:
    return slope.reason if slope.status == "cannot tell" else f"{slope.status}: {slope.reason}"


def _eps(kernel: Kernel) -> float:
    return 2.0 * types.unit_roundoff(kernel.dtype)

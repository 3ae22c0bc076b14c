"""Why a gradient that is not right may be no fault of its library: each reason has a test and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gradproof.frontends.library.model import OpCall, SweptLibrary
from gradproof.ir.types import Array
from gradproof.options import Options
from gradproof.sweep.domain import is_outside_of_its_domain
from gradproof.sweep.find import Find, is_beyond, is_of_the_dtype
from gradproof.sweep.script import call_of, function_of

RUNS = 3  # inputs that are rounded at random, for each way of rounding them
ROUNDINGS = 64.0  # a stable algorithm may make as many of them as it has steps
OF_THE_VALUE = 4.0  # roundings of it: what is larger is a slope that an algorithm can know
CALLS = 16  # that a random op survives with the same result once in thousands of times

AS_GOOD = "not right, but as right as inputs allow that are rounded themselves"
BELOW_A_ROUNDING = "zero but for what roundings of the value make"
FLUSHED = "numbers below the normal ones are taken for zero, and there the library returns the same"
RANDOM = "the op gives other numbers each time"
OUTSIDE = "a parameter of the distribution is outside of its domain"
OTHER_SHAPE = "the result has another shape at this point"


@dataclass(frozen=True, eq=False)
class Doubts:
    """What the reasons need: the library, the true gradient of a sample, and what the library returns for one."""

    library: SweptLibrary
    true_gradient: Callable[[OpCall], Array | None]
    observed: Callable[[OpCall], Array | float | None]
    options: Options = field(default_factory=Options)

    def reason(self, find: Find) -> str | None:
        """The first that holds; None where it is the library's fault."""
        for said, holds in (
            (OUTSIDE, lambda find: is_outside_of_its_domain(find.sample)),
            (OTHER_SHAPE, self._has_other_shape),
            (RANDOM, self._is_random),
            (FLUSHED, self._is_flushed),
            (BELOW_A_ROUNDING, self._is_below_a_rounding),
            (AS_GOOD, self._is_as_good_as_can_be),
        ):
            if holds(find):
                return said
        return None

    def _has_other_shape(self, find: Find) -> bool:
        """Weights that no longer fit are broadcast, and make something else of it; a list of one number is none."""
        weights, entry = find.sample.weights, find.sample.entry
        if weights is None and entry != ():
            return False
        parts = self.library.parts(call_of(self.library, find.sample))
        own = [part.shape for part in parts if part.pick in find.sample.result]
        return bool(own) and (() if weights is None else weights.shape) not in own

    def _is_random(self, find: Find) -> bool:
        function, args = function_of(self.library, find.sample)
        first, *others = (repr(np.asarray(function(*args)).tolist()) for _ in range(CALLS))
        return any(other != first for other in others)

    def _is_flushed(self, find: Find) -> bool:
        flushed = {name: _without_subnormal(x) for name, x in find.sample.arrays.items()}
        if all(np.array_equal(flushed[name], x) for name, x in find.sample.arrays.items()):
            return False
        there = self.observed(replace(find.sample, arrays=flushed))
        if there is None or find.observed is None:
            return there is None and find.observed is None
        value = np.asarray(there)[find.entry] if np.ndim(there) else there
        return bool(np.array_equal(float(value), find.observed, equal_nan=True))

    def _is_below_a_rounding(self, find: Find) -> bool:
        """Whatever the other arguments are: a value that one of them makes large says nothing of another's slope."""
        return is_below_a_rounding(find) and not any(map(self._is_larger, self._with_plain_others(find)))

    def _is_larger(self, there: Find) -> bool:
        """Whether the library errs there too, and by more than roundings of the value make."""
        is_off = is_beyond(there.observed, there.expected, there.dtype, self.options)
        is_known = is_of_the_dtype(there.observed, there.expected, there.dtype)
        return is_off and is_known and not is_below_a_rounding(there)

    def _with_plain_others(self, find: Find) -> Iterator[Find]:
        """The gradient at the same entry where one of the other arguments is all ones."""
        for name, x in find.sample.arrays.items():
            if name == find.source or name in find.sample.labels:
                continue
            sample = replace(find.sample, arrays={**find.sample.arrays, name: np.ones_like(x)})
            true, observed = self.true_gradient(sample), self.observed(sample)
            if true is None or observed is None:
                continue
            function, args = function_of(self.library, sample)
            value = float(np.real(np.asarray(function(*args))))
            number = np.asarray(observed)[find.entry] if np.ndim(observed) else observed
            yield replace(
                find, sample=sample, observed=float(number), expected=float(true[find.entry]), value=value
            )

    def _is_as_good_as_can_be(self, find: Find) -> bool:
        """Whether inputs that differ in their last digit have true gradients that differ by about this error.

        Then no algorithm in this precision does better.
        """
        if find.observed is None or not np.isfinite(find.observed):
            return False
        off = abs(find.observed - find.expected)
        for moved in _rounded_samples(find.sample):
            gradient = self.true_gradient(moved)
            if gradient is not None and off <= ROUNDINGS * abs(float(gradient[find.entry]) - find.expected):
                return True
        return False


def is_below_a_rounding(find: Find) -> bool:
    """Whether a gradient is zero but for what roundings of the value make, for an argument of ordinary size.

    The variance of two numbers does not depend on their weights: such a zero is known to no relative precision. Nor is
    the slope of x / |x|, which the rounded exponents of a norm make another number than zero. A value that the library
    has lost to infinity says nothing about roundings.
    """
    if find.observed is None or find.value is None or not np.isfinite([find.observed, find.value]).all():
        return False
    size = max(float(np.abs(find.sample.arrays[find.source]).max(initial=0.0)), 1.0)
    bound = OF_THE_VALUE * float(np.finfo(find.dtype).eps) * abs(find.value) / size
    return max(abs(find.observed), abs(find.expected)) <= bound


def _rounded_samples(sample: OpCall) -> Iterator[OpCall]:
    """All arrays rounded, then each alone: a label that is no longer one makes another function of it."""
    rng = np.random.default_rng(0)
    ways = [tuple(sample.arrays), *((name,) for name in sample.arrays if len(sample.arrays) > 1)]
    for names in ways:
        for _ in range(RUNS):
            moved = {name: _rounded(x, rng) if name in names else x for name, x in sample.arrays.items()}
            yield replace(sample, arrays=moved)


def _rounded(x: Array, rng: np.random.Generator) -> Array:
    """Each number with its last digit changed: below the normal numbers that is a larger share of it.

    As many up as down, or equal numbers might stay equal.
    """
    signs = rng.permutation(np.resize(rng.permutation([-1.0, 1.0]), x.size)).reshape(x.shape)
    step = np.maximum(np.abs(x) * np.finfo(x.dtype).eps, np.where(x == 0, 0.0, np.spacing(np.abs(x))))
    return np.asarray(x + signs * step, dtype=x.dtype)


def _without_subnormal(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(x.dtype).smallest_normal, x.dtype.type(0), x)

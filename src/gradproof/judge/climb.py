"""The climb to enclosures that decide about every observed gradient, each computed only until it is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradproof.domains.exact_product64 import NormedBallDomain64, SharpBallDomain64
from gradproof.engine.refine import Enclosure, Refined, Unknown, entry_count, gradient_measure, refine
from gradproof.engine.run import Run, run
from gradproof.engine.terms import term_sizes
from gradproof.errors import InvalidInput, TooDeep
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.compare import Comparison, compare, fails_beside_zero
from gradproof.judge.deep import is_too_deep
from gradproof.judge.exact_zeros import ExactZeros
from gradproof.options import Options

# Up to this many numbers in a program the second rung takes milliseconds, and the report may as well show the true
# gradient to all digits of a float64.
SHARP_ENTRIES = 2_000
# From here on balls of 128 bits take the better part of a minute.
LARGE_ENTRIES = 1_000_000
SHARP = 1e-12


@dataclass
class Climb:
    """What is known of every gradient so far, and which of them are still asked for.

    A gradient within its tolerance keeps the enclosure that shows it: on the next rungs, which are far dearer, its
    products are left out. In a small program all are asked for to the end, since sharp enclosures are wanted.
    """

    program: Program
    wrt: Sequence[int]
    observed: Sequence[Array | None]
    zeros: ExactZeros
    options: Options
    enclosures: dict[int, Enclosure] = field(default_factory=dict)
    found: dict[int, Comparison | None] = field(default_factory=dict)
    unknown: Unknown = field(default_factory=Unknown)

    def climb(self) -> tuple[Refined, list[Comparison | None]]:
        refined = refine(self.program, self._measure, self._is_decided, self.options)
        places = range(len(self.wrt))
        known = tuple(self.enclosures[k] for k in places)
        if not refined.decided:  # on the way the sizes of terms were left out where they could not decide
            still = comparisons(self.wrt, self.observed, known, refined.run, self.options)
            self.found.update({k: one for k, one in enumerate(still) if self._is_open(k)})
        return replace(refined, enclosures=known), [self.found[k] for k in places]

    @cached_property
    def _is_sharp_wanted(self) -> bool:
        return entry_count(self.program) <= SHARP_ENTRIES

    def _is_open(self, k: int) -> bool:
        found = self.found.get(k)
        return self._is_sharp_wanted or found is None or found.outcome != "within"

    @property
    def _open(self) -> list[int]:
        return [k for k in range(len(self.wrt)) if self._is_open(k)]

    def _measure(self, result: Run) -> Sequence[Any]:
        return gradient_measure([self.wrt[k] for k in self._open])(result)

    def _is_decided(self, enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        asked = self._open
        sources, observed = [self.wrt[k] for k in asked], [self.observed[k] for k in asked]
        enclosures = self.zeros.put(enclosures, sources)
        self.enclosures.update(zip(asked, enclosures))
        self.found.update(
            zip(asked, comparisons(sources, observed, enclosures, result, self.options, is_last=False))
        )
        self.unknown.see(enclosures, result)
        settled = ("within", "beyond", "nonfinite", *(("unbounded",) if self.unknown.stays else ()))
        decided = all(one is None or one.outcome in settled for one in self.found.values())
        last_cheap = isinstance(result.m.domain, SharpBallDomain64) and is_large(self.program)
        if not decided and last_cheap and is_too_deep(run(NormedBallDomain64(), self.program)):
            raise TooDeep("the program is too deep for float64 balls, and too large for more digits")
        is_sharp_enough = not self._is_sharp_wanted or all(map(is_sharp, enclosures))
        return decided and (self.unknown.stays or is_sharp_enough)


def is_large(program: Program) -> bool:
    return entry_count(program) > LARGE_ENTRIES


def is_sharp(enclosure: Enclosure) -> bool:
    if not enclosure.is_bounded or enclosure.mid.size == 0:
        return True  # more precision is not what is missing
    floor = SHARP * SHARP * float(np.abs(enclosure.mid).max())
    return bool((enclosure.rad <= SHARP * np.abs(enclosure.mid) + floor).all())


def comparisons(
    wrt: Sequence[int],
    observed: Sequence[Array | None],
    enclosures: Sequence[Enclosure],
    result: Run,
    options: Options,
    is_last: bool = True,
) -> list[Comparison | None]:
    """The observed gradients beside their enclosures. Unless it is the last look, the sizes of the terms are left out
    where they cannot decide: they take a sweep of their own."""
    for id, numbers in zip(wrt, observed):
        # Asked of the source, not of the reference: one that does not reach the target has a zero without a kind.
        is_odd = numbers is not None and np.iscomplexobj(numbers)
        if is_odd and not types.is_complex(result.program[id].dtype):
            raise InvalidInput("a complex gradient was observed for a real source")
    found = [
        None if numbers is None else compare(numbers, enclosure, types.dtype_name(numbers), options)
        for numbers, enclosure in zip(observed, enclosures)
    ]
    if all(c is None or c.outcome in ("within", "nonfinite", "unbounded") for c in found):
        return found
    if not is_last and all(map(_stays_undecided, found, observed, enclosures, [options] * len(found))):
        return found
    # Only now are the sizes of the terms worth a second sweep: a true gradient of zero may be among them.
    sizes = term_sizes(result, wrt)
    return [
        compare(numbers, enclosure, types.dtype_name(numbers), options, size)
        if numbers is not None and c is not None and c.outcome in ("beyond", "undecided")
        else c
        for c, numbers, enclosure, size in zip(found, observed, enclosures, sizes)
    ]


def _stays_undecided(
    found: Comparison | None, observed: Array | None, enclosure: Enclosure, options: Options
) -> bool:
    """Whether the sizes of terms change nothing: an entry that is not zero is too wide to be told."""
    if found is None or observed is None or found.outcome not in ("beyond", "undecided"):
        return True
    return found.outcome == "undecided" and fails_beside_zero(
        observed, enclosure, types.dtype_name(observed), options
    )

"""Programs too deep for balls, or too large for memory: their gradient in float64, with an error bar from shaken runs.

The radius of a ball grows from layer to layer as if every error had the worst of signs, and after some layers of
attention nothing is left. Errors themselves do not grow like that. How large they are shows when the program is run
again with every result moved by a unit of its last place, up or down at random. That is a measurement and no proof. But
between a float32 and a float64 lie nine digits, so that a generous bar still decides; and no more is claimed from it
than that a gradient is right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.margins import margins
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import Run, run
from gradproof.engine.terms import term_sizes
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.reference import Evidence
from gradproof.options import Options

SHAKES = 3  # runs besides the plain one
SAFETY = 1000.0  # the bar is so many times what the runs differ by: three digits of the nine to spare
MOST_BITS = 24  # of a gradient that can be judged so: a float32's
LAST_PLACE = 2.0**-52
# Of the terms that an entry is a sum of: what is within its bar of zero, and below this, counts as zero.
ZERO_LIKE = 2.0**-30
SEED = 7
BYTES = 16  # of a number and its gradient
DEEP = "the program is too deep for a proof"


def shaken_gradients(program: Program, wrt: tuple[int, ...]) -> list[tuple[Enclosure, Array]] | None:
    """The gradients of a program in float64, with one bar for all entries of each, and the sizes of their terms.

    None where there are no such numbers, and at a tie: it has sides, which a run in float64 knows nothing of.
    """
    plain = run(Ieee("float64"), program)
    if any(decision.moves and bool(decision.ties.any()) for decision in margins(plain)):
        return None
    mids, sizes = _gradients(plain, wrt, None), term_sizes(plain, wrt)
    del plain  # one run at a time: these programs are large
    spreads = [0.0] * len(mids)
    for k in range(SHAKES):
        domain = Shaken(np.random.default_rng((SEED, k)))
        again = _gradients(run(domain, program), wrt, domain)
        spreads = [
            max(spread, float(np.max(np.abs(a - b), initial=0.0)))
            for spread, a, b in zip(spreads, again, mids)
        ]
    if not all(np.isfinite(mid).all() and np.isfinite(spread) for mid, spread in zip(mids, spreads)):
        return None
    return [(_with_bar(mid, SAFETY * spread, size), size) for mid, spread, size in zip(mids, spreads, sizes)]


def _with_bar(mid: Array, bar: float, sizes: Array) -> Enclosure:
    zero = (np.abs(mid) <= bar) & (np.abs(mid) + bar <= ZERO_LIKE * sizes)
    return Enclosure(np.where(zero, 0.0, mid), np.where(zero, 0.0, bar))


class Shaken(Ieee):
    """float64 with every result moved by at most a unit of its last place, at random."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__("float64")
        self._rng = rng

    def settle(self, y: Any, dtype: str) -> Any:
        return self.shake(super().settle(y, dtype))

    def shake(self, y: Any) -> Any:
        moved = self._rng.integers(-1, 2, np.shape(y), dtype=np.int8)
        return y * (1.0 + moved * LAST_PLACE)


def _gradients(result: Run, wrt: tuple[int, ...], shaken: Shaken | None) -> list[Array]:
    seed = {result.program.outputs[0]: np.ones(())}
    edit = None if shaken is None else (lambda node, i, gy, gx: shaken.shake(gx))
    found = pull_back(result, seed, wrt, edit=edit)
    return [
        np.asarray(found[id] if id in found else np.zeros(result.program[id].shape), np.float64) for id in wrt
    ]


@dataclass(frozen=True)
class Measured:
    """A gradient against a float64 one: right, error bar included, or off by more than its tolerance and the bar."""

    enclosure: Enclosure
    comparison: Comparison
    by_norm: float

    @property
    def is_right(self) -> bool:
        return self.comparison.outcome == "within"

    def __str__(self) -> str:
        """How far it is off; no fault is concluded from that, since it is a measurement."""
        return (
            f"a run in float64 gives entries that differ by up to {self.comparison.relative_error:.1g} of their size "
            f"and, by norm, by {self.by_norm:.1g}, which is no proof of a fault"
        )


def by_shaking(evidence: Evidence, options: Options) -> dict[int, Measured]:
    """Those of the gradients, by their number, of which a run in float64 can tell whether they are right."""
    narrow = [
        k
        for k, observed in enumerate(evidence.observed)
        if observed is not None and types.precision_bits(types.dtype_name(observed)) <= MOST_BITS
    ]
    if not narrow or BYTES * entry_count(evidence.program) > options.memory_limit_bytes:
        return {}
    try:
        measured = shaken_gradients(evidence.program, evidence.wrt) or []
    except GradproofError:  # an op that float64 does not have
        return {}
    found = {}
    for k, (enclosure, sizes) in enumerate(measured):
        observed = evidence.observed[k]
        if k in narrow and observed is not None:
            comparison = compare(observed, enclosure, types.dtype_name(observed), options, sizes)
            if comparison.outcome in ("within", "beyond"):
                found[k] = Measured(enclosure, comparison, _by_norm(observed, enclosure.mid))
    return found


def _by_norm(observed: Array, mid: Array) -> float:
    size = float(np.linalg.norm(mid))
    return float(np.linalg.norm(observed - mid)) / size if size else np.inf


def how(right: Iterable[Measured], why: str) -> str:
    """In words, with the widest of the error bars and why there is no proof; the same for all: said once."""
    bar = max((_share(one.enclosure) for one in right), default=0.0)
    return (
        f"{why}; it was run in float64, and again with every result moved in its last digit, which "
        f"shows errors of less than {bar:.0e} of the largest entry"
    )


def _share(enclosure: Enclosure) -> float:
    bar, size = (float(np.max(np.abs(part), initial=0.0)) for part in (enclosure.rad, enclosure.mid))
    return bar / size if size else 0.0

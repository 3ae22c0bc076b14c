"""Where a function has no derivative, or no value to have one at: kinks, jumps, singular points, NaN that was given."""

from __future__ import annotations

import numpy as np

from gradproof.engine.decisions import Side
from gradproof.engine.refine import has_value
from gradproof.ir.types import Array
from gradproof.judge.float64_limits import PARTLY, known_in_balls, no_value
from gradproof.judge.infinite import INFINITE_CONSTANT
from gradproof.judge.reference import Evidence, Reference
from gradproof.judge.unknown import has_finite_value, has_infinity, unknown_number, without_number
from gradproof.judge.verdict import Verdict

TOO_LARGE = "the true gradient is finite, but too large for a float64"
TOO_WIDE = "the program is too deep for a proof: its enclosures grow with every step, and leave the gradient undecided"


def undefined(k: int, evidence: Evidence, reference: Reference) -> tuple[Verdict, str | None] | None:
    """Where the function has no derivative: the sides of a tie differ, or nothing nearby tends to one."""
    sides, observed = reference.sides, evidence.observed[k]
    unknown = unknown_number(evidence)
    if not has_finite_value(evidence) and unknown is not None:
        return without_number(evidence, unknown)
    is_lost = observed is not None and not np.isfinite(observed).all()
    if is_lost and (reason := no_value(evidence)) is not None:
        return Verdict.UNDEFINED, reason
    if sides is not None and sides.fact == "cannot tell":
        return Verdict.UNVERIFIED, sides.reason
    if sides is not None and sides.fact in ("kink", "jump"):
        mask = sides.differing.get(evidence.wrt[k])
        if mask is not None and mask.any():
            word = "jumps" if sides.fact == "jump" else "has different slopes on its sides"
            return Verdict.UNDEFINED, f"the function {word} at this point"
    if reference.oracles[k] == "none" and unknown is not None:
        return Verdict.UNVERIFIED, unknown
    if reference.oracles[k] == "none" and reference.limit is not None and has_infinity(evidence):
        return Verdict.UNVERIFIED, INFINITE_CONSTANT
    if reference.oracles[k] == "none" and reference.limit is not None:
        known, large = known_in_balls(evidence, k) if sides is None else (np.False_, np.False_)
        lost = np.False_ if observed is None else known & ~np.isfinite(observed)
        if bool(lost.any()):
            return Verdict.NONFINITE, TOO_LARGE if bool((lost & large).any()) else PARTLY
        if bool(known.all()):
            return Verdict.UNVERIFIED, TOO_LARGE if bool(large.any()) else TOO_WIDE
        if reference.limit.kind != "undecided":
            return Verdict.UNDEFINED, reference.limit.reason
        if not has_value(reference.run):
            return Verdict.UNVERIFIED, "exact arithmetic finds no value of the function at this point"
        return Verdict.UNVERIFIED, reference.limit.reason
    return None


def one_sided(reference: Reference, k: int, id: int) -> tuple[Array, Array] | None:
    """Slopes from below and from above for every entry of a source; equal where its entries have one slope."""
    sides, limit = reference.sides, reference.limit
    own: list[Side] = []
    if sides is not None and sides.fact in ("kink", "jump"):
        own = [side for side in sides.slopes if side.input == id]
    if not own:
        known = None if limit is None else limit.one_sided
        return None if known is None else (np.asarray(known[0]), np.asarray(known[1]))
    left, right = (np.array(np.real(reference.enclosures[k].mid), np.float64) for _ in range(2))
    for side in own:
        left[side.index], right[side.index] = float(side.left.mid), float(side.right.mid)
    return left, right

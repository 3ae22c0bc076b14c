"""Decisions that rounding took otherwise than exact arithmetic, or nearly so, and what they do to the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradproof.engine.derive import vjp
from gradproof.engine.margins import Decision
from gradproof.engine.refine import Enclosure, has_value
from gradproof.engine.run import Policy, Run, run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.judge.compare import compare
from gradproof.options import Options

NEAR_UNITS = 4  # units of the last place: a rounding or two away from the other branch
KNOWN = 1e-3  # of the largest entry: where balls are wider, precision was at its end
MAX_LOOKED_AT = 3  # each costs a run of the program; more would tell the same story


@dataclass(frozen=True, eq=False)
class Flip:
    """A decision and the gradient that the other branch has.

    `is_flipped`: exact arithmetic takes the other branch. If not, the decision is only so near that the
    next rounding may flip it. `matters`: the gradients of the two branches differ.
    """

    node: Node
    index: tuple[int, ...]
    margin: float
    relative: float
    is_flipped: bool
    other: Enclosure  # the gradient of the other branch
    matters: bool


class OtherBranches:
    """The gradients for all sources of a run with one of its decisions taken otherwise, each run made once."""

    def __init__(self, proven: Run, wrt: Sequence[int]) -> None:
        self.proven, self._wrt = proven, wrt
        self._known: dict[tuple[int, bytes], dict[int, Enclosure]] = {}

    def gradient(self, node: int, other: Array, source: int) -> Enclosure:
        key = node, other.tobytes()
        if key not in self._known:
            self._known[key] = dict(zip(self._wrt, self._gradients(node, other)))
        return self._known[key][source]

    def _gradients(self, node: int, other: Array) -> list[Enclosure]:
        m = self.proven.m
        result = run(m, self.proven.program, Policy(decisions={node: other}))
        seed = m.literal(np.asarray(1.0 if has_value(result) else np.nan))
        gradients = vjp(result, [seed], self._wrt)
        with m.domain.active():
            return [Enclosure(*m.domain.leave(gradient)) for gradient in gradients]


def flips(
    others: OtherBranches, decisions: Sequence[Decision], source: int, own: Enclosure, options: Options
) -> tuple[Flip, ...]:
    """The decisions that exact arithmetic takes otherwise, then those that are nearly at a tie; a few of each."""
    proven = others.proven
    flipped = [d for d in decisions if d.flips.any()]
    near = [d for d in decisions if d.moves and not d.flips.any() and _near(proven, d).any()]
    looked_at = [(d, True) for d in flipped[:MAX_LOOKED_AT]] + [(d, False) for d in near[:MAX_LOOKED_AT]]
    found = (_flip(others, decision, source, own, options, is_flipped) for decision, is_flipped in looked_at)
    return tuple(flip for flip in found if flip is not None)


def _near(proven: Run, decision: Decision) -> Array:
    node = proven.program[decision.node]
    if node.dtype != "bool":
        return np.zeros(node.shape, bool)
    dtypes = [proven.program[id].dtype for id in node.inputs if not proven.program[id].is_discrete]
    unit = max(types.unit_roundoff(dtype) for dtype in dtypes)
    return np.asarray(decision.agrees & (decision.margin <= NEAR_UNITS * unit * decision.size))


def _flip(
    others: OtherBranches,
    decision: Decision,
    source: int,
    own: Enclosure,
    options: Options,
    is_flipped: bool,
) -> Flip | None:
    proven = others.proven
    node = proven.program[decision.node]
    mask = decision.flips if is_flipped else _near(proven, decision)
    index = tuple(int(k) for k in np.argwhere(mask)[0])
    taken = np.asarray(node.value)
    try:
        if node.dtype == "bool":
            other = taken ^ mask
        else:
            xs = [proven.values[id] for id in node.inputs]
            with proven.m.domain.active():
                other = np.where(mask, getattr(proven.m, node.op)(*xs, **node.params), taken).astype(
                    taken.dtype
                )
        gradient = others.gradient(node.id, other, source)
    except GradproofError:
        return None
    dtype = proven.program[source].dtype
    wide = Enclosure(own.mid, own.rad + gradient.rad)
    # A gradient without bounds is another one than one that is known; of two that are not, nobody can tell.
    matters = (
        compare(gradient.mid, wide, dtype, options).outcome == "beyond"
        if gradient.is_bounded
        else _is_known(own)
    )
    margin, size = float(decision.margin[index]), float(decision.size[index])
    return Flip(node, index, margin, abs(margin) / size if size else 0.0, is_flipped, gradient, matters)


def _is_known(own: Enclosure) -> bool:
    return own.is_bounded and bool((own.rad <= KNOWN * np.abs(own.mid).max(initial=0.0)).all())

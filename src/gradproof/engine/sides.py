"""The smooth functions on the sides of a tie, and whether two of them have the same value and gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gradproof.engine.derive import vjp
from gradproof.engine.directional import Along, Resolving, directional
from gradproof.engine.hidden_infinities import absorbed
from gradproof.engine.margins import Decision
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import Run
from gradproof.engine.terms import term_sizes
from gradproof.errors import NotSupported
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.ir.verify import describe
from gradproof.ops import Arithmetic

Fact = Literal["agree", "kink", "jump", "cannot tell"]

N_DIRECTIONS = 4  # random directions, each with its opposite; one pair already shows both sides of every tie
WORK = 800_000  # numbers in all directions together, from which on there are fewer of them

# Two enclosures that overlap count as equal if they are narrower than this share of the numbers, or this many
# roundings of a gradient's dtype: a tenth and less of every tolerance that a gradient is judged by.
RESOLUTION = 2.0**-30
ROUNDINGS_APART = 2.0**10
CANCELLED = 2.0**-60  # a share of the terms of a gradient: slopes that differ by less are zero to every dtype
SHARE_OF_LARGEST = 2.0**-10  # an entry is measured against itself or this share of the largest of its array
ROUNDINGS = 1.0 + 2.0**-50  # covers the additions of radii in float64


@dataclass(frozen=True, eq=False)
class Tied:
    """A program at a tie, and what every examination of it needs."""

    program: Program
    domain: Any
    wrt: tuple[int, ...]
    base: Run
    decisions: Mapping[int, Decision]
    ties: tuple[int, ...]  # decisions at a tie, or not to be told from one

    @property
    def output(self) -> int:
        return self.program.outputs[0]

    @cached_property
    def sizes(self) -> Mapping[int, Array]:
        """Of the terms that each gradient is the sum of."""
        return dict(zip(self.wrt, term_sizes(self.base, self.wrt)))


@dataclass(frozen=True, eq=False)
class Beside:
    """The function on one side of all ties: its value minus that at the tie, and its gradient."""

    along: Along
    jump: Enclosure
    gradient: Mapping[int, Enclosure]


@dataclass(frozen=True, eq=False)
class SideComparison:
    """What several sides have in common, the entries at which they differ, and why it may be undecided."""

    fact: Fact
    differing: Mapping[int, Array]
    reason: str | None = None


def besides(tied: Tied, clear_only: bool) -> list[Beside]:
    """Sides met in random directions. With `clear_only` what may be a tie and may not is left as recorded."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(max(1, min(N_DIRECTIONS, WORK // max(entry_count(tied.program), 1)))):
        found += opposite_sides(tied, rng, Resolving(clear_only=clear_only))
    return found


def opposite_sides(tied: Tied, rng: np.random.Generator, resolving: Resolving) -> list[Beside]:
    """The sides met in a random direction and in its opposite."""
    direction = {id: _random_direction(rng, tied.program[id]) for id in tied.wrt}
    return [
        _beside(tied, {id: sign * part for id, part in direction.items()}, resolving) for sign in (1.0, -1.0)
    ]


def _random_direction(rng: np.random.Generator, node: Node) -> Array:
    """Dyadic numbers away from zero: exact in every domain, and every entry moves."""

    def draw() -> Array:
        return np.asarray(
            rng.integers(2**10, 2**11, node.shape) * rng.choice([-1.0, 1.0], node.shape) * 2.0**-11
        )

    return draw() + 1j * draw() if types.is_complex(node.dtype) else draw()


def _beside(tied: Tied, direction: Mapping[int, Array], resolving: Resolving) -> Beside:
    side = _side(tied, direction, resolving)
    if not side.along.unresolved:
        return side
    # It does not matter how an open tie is resolved if both ways lead to the same.
    both = [_side(tied, direction, replace(resolving, lean=lean)) for lean in (1.0, -1.0)]
    if compare(tied, [side, *both]).fact != "agree":
        node = tied.program[side.along.unresolved[0]]
        raise NotSupported(f"{describe(node)} is at a tie that no slope resolves, and it matters")
    return both[0]


def _side(tied: Tied, direction: Mapping[int, Array], resolving: Resolving) -> Beside:
    along = directional(tied.program, direction, tied.domain, tied.decisions, resolving)
    m = along.run.m
    gradients = vjp(along.run, [m.literal(np.ones(()))], tied.wrt)
    with m.domain.active():
        gradient = {id: enclosed(m, gx) for id, gx in zip(tied.wrt, gradients)}
    # A zero times an unbounded slope says nothing of the side: the angle between equal vectors is a cone, not flat.
    for id, mask in absorbed(along.run, tied.wrt).items():
        gradient[id] = replace(gradient[id], rad=np.where(mask, np.inf, gradient[id].rad))
    return Beside(along, jump(tied, along), gradient)


def jump(tied: Tied, along: Along) -> Enclosure:
    """By how much the output an instant further on differs from the output at the tie."""
    m = along.run.m
    with m.domain.active():
        return enclosed(m, m.sub(along.value(tied.output), tied.base.values[tied.output]))


def enclosed(m: Arithmetic, x: Any) -> Enclosure:
    return Enclosure(*m.domain.leave(x))


def compare(tied: Tied, found: Sequence[Beside]) -> SideComparison:
    """Do all sides have one value and one gradient; and if not, at which entries do the gradients differ."""
    differing = {id: np.zeros(tied.program[id].shape, bool) for id in tied.wrt}
    jumps = [differences(side.jump, _NOTHING, _output_size(tied)) for side in found]
    if any(bool(gap) for gap, _ in jumps):
        return SideComparison("jump", differing)
    reason = None
    if any(bool(doubt) for _, doubt in jumps):
        reason = "the value on one side of a tie is not known well enough to be compared"
    for side in found[1:]:
        for id in tied.wrt:
            resolution = max(RESOLUTION, ROUNDINGS_APART * types.unit_roundoff(tied.program[id].dtype))
            gap, doubt = differences(found[0].gradient[id], side.gradient[id], resolution=resolution)
            differing[id] |= gap
            if bool(doubt.any()) and not _is_zero(tied, (found[0], side), id):
                reason = "a slope beside the tie is unbounded, or not known well enough to be compared"
    if any(bool(mask.any()) for mask in differing.values()):
        return SideComparison("kink", differing)
    return SideComparison("agree" if reason is None else "cannot tell", differing, reason)


def _is_zero(tied: Tied, found: Sequence[Beside], id: int) -> bool:
    """Whether slopes cancel to nothing beside their terms: no share of zero is wide enough to compare them."""
    slopes = [side.gradient[id] for side in found]
    return all(bool((np.abs(one.mid) + one.rad <= CANCELLED * tied.sizes[id]).all()) for one in slopes)


_NOTHING = Enclosure(np.zeros(()), np.zeros(()))


def _output_size(tied: Tied) -> float:
    with tied.base.m.domain.active():
        return float(np.abs(enclosed(tied.base.m, tied.base.values[tied.output]).mid))


def differences(
    one: Enclosure, other: Enclosure, size: float = 0.0, resolution: float = RESOLUTION
) -> tuple[Array, Array]:
    """Where two arrays surely differ, and where that cannot be told; `size` is the least scale of both."""
    spread = one.rad + other.rad
    gap = np.asarray(np.abs(one.mid - other.mid) > spread * ROUNDINGS)
    sizes = np.maximum(np.maximum(np.abs(one.mid), np.abs(other.mid)), size)
    largest = float(np.max(sizes, initial=0.0))
    scale = np.maximum(sizes, SHARE_OF_LARGEST * largest) if largest else 1.0
    return gap, np.asarray(~gap & ~(spread <= resolution * scale))

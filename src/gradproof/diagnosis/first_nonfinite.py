"""Where the first NaN or infinity arose on the way to a gradient, and why.

The recorded gradient program is walked backwards from a bad entry of the gradient, entry by entry, to the op
that made a number that is not finite out of numbers that are. What exact arithmetic gives for that op, and for its
operands, tells the kinds apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from gradproof.diagnosis.exact_entry import QUOTIENTS, SMALLEST_NORMAL, Exact, culprit_of, exact_entry
from gradproof.diagnosis.flow import Place, forward_op, operand, trail, value_at
from gradproof.diagnosis.zero import SUMS, Zero, rounded_away, zero_at
from gradproof.domains.ball import BallDomain
from gradproof.domains.ieee import Ieee
from gradproof.engine.refine import entry_count
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program, ancestors, prune
from gradproof.ir.types import Array
from gradproof.ops import TABLE

Kind = Literal[
    "masked-branch", "overflow", "underflow", "cancellation", "absorption", "singular-point", "invalid-domain"
]

MAX_EXACT = 20_000  # numbers in a program that is run as a whole in balls
EXACT_BITS = 256
MANY_BITS = 1280
_PRODUCTS = frozenset({"mul", "absorbing_mul"})


@dataclass(frozen=True, eq=False)
class Nonfinite:
    """One way on which a NaN or an infinity reached the gradient.

    `trail` leads from the entry where it arose to the entry of the gradient. `culprit` is the operand that the op
    cannot digest. `zero` is the factor that the infinity met, at `meeting`, to become NaN. `rounded` is the op that
    lost its result to rounding, where one did. `reruns` says that the recorded ops do not show the fault themselves
    and were run again in floating point: a compiled program computed otherwise.
    """

    kind: Kind
    program: Program
    trail: tuple[Place, ...]
    exact: Exact | None  # of the first entry of the trail, on the inputs it had
    culprit: Place | None = None
    meeting: Place | None = None
    zero: Zero | None = None
    rounded: Place | None = None
    rounded_exact: Exact | None = None
    reruns: bool = False

    @property
    def origin(self) -> Node:
        return self.program[self.trail[0].id]

    @property
    def is_forward(self) -> bool:
        return self.origin.phase == "forward"


def first_nonfinite(program: Program, recorded: int, index: tuple[int, ...]) -> Nonfinite | None:
    """How an entry of the gradient held by node `recorded` became NaN or infinite; None if it cannot be told."""
    end = Place(recorded, index)
    way = _trail(program, end)
    reruns = _appears_from_nowhere(program, way[0])
    if reruns:
        program = _run_again(program)
        way = _trail(program, end)
    if _is_finite(program, end) or _appears_from_nowhere(program, way[0]):
        return None
    found = _masked(program, way) or _masked(program, _trail_of_nan(program, end)) or _unmasked(program, way)
    return None if found is None else replace(found, reruns=reruns)


def swallowed_overflow(program: Program, recorded: int, index: tuple[int, ...]) -> Nonfinite | None:
    """The first number on the way to a finite gradient that was too large for its dtype: 1/inf is an ordinary 0."""
    reaching = ancestors(program, [recorded])
    for node in program.nodes:
        if node.id not in reaching or node.is_discrete or node.value is None or isinstance(node.value, tuple):
            continue
        bad = np.argwhere(np.isinf(np.asarray(node.value)))
        if not len(bad):
            continue
        place = Place(node.id, tuple(int(k) for k in bad[0]))
        exact = exact_entry(program, place)
        if exact is None or not exact.is_beyond(node.dtype):
            return None
        return Nonfinite("overflow", program, (place, Place(recorded, index)), exact)
    return None


def _trail(program: Program, end: Place) -> tuple[Place, ...]:
    return trail(program, end, partial(_entries_that_are, program, lambda x: ~np.isfinite(x)))


def _trail_of_nan(program: Program, end: Place) -> tuple[Place, ...]:
    """Where a NaN was multiplied by an infinity, the way to the NaN: the infinity has spoiled nothing."""
    kinds: tuple[Callable[[Array], Array], ...] = (np.isnan, lambda x: ~np.isfinite(x))
    return trail(program, end, *(partial(_entries_that_are, program, kind) for kind in kinds))


def _entries_that_are(program: Program, kind: Callable[[Array], Array], id: int) -> Array | None:
    value = program[id].value
    return None if value is None or isinstance(value, tuple) else kind(np.asarray(value))


def _is_finite(program: Program, place: Place) -> bool:
    value = value_at(program, place)
    return value is None or bool(np.isfinite(value))


def _appears_from_nowhere(program: Program, place: Place) -> bool:
    """Moving a number cannot spoil it: what was recorded is not what was computed."""
    node = program[place.id]
    return node.op == "identity"


def _run_again(program: Program) -> Program:
    with np.errstate(all="ignore"):
        values = run(Ieee(), program).values
    return replace(program, nodes=tuple(replace(node, value=values[node.id]) for node in program.nodes))


def _exact_values(program: Program, bits: int = EXACT_BITS) -> Mapping[int, Array]:
    if entry_count(program) * bits > MAX_EXACT * EXACT_BITS:
        return {}
    try:
        return run(BallDomain(bits), program).values
    except GradproofError:
        return {}


def _masked(program: Program, way: tuple[Place, ...]) -> Nonfinite | None:
    """An infinity meets a zero that stands for "this does not count", and the product is NaN instead of zero."""
    for place in way:
        factor = _other_factor(program, place, way)
        if factor is None or value_at(program, factor) != 0:
            continue
        zero = zero_at(program, factor)
        if zero.is_masked and not (
            _is_of_the_op(program, program[way[0].id], zero.node)
            or _is_on_the_way_in(program, place, way, zero)
        ):
            return Nonfinite(
                "masked-branch",
                program,
                way,
                exact_entry(program, way[0]),
                culprit=culprit_of(program, way[0]),
                meeting=place,
                zero=zero,
            )
    return None


def _is_of_the_op(program: Program, origin: Node, zero: Node) -> bool:
    """Whether a zero is an argument of the very op whose slope is infinite, as the exponent of a power is: no mask."""
    op = forward_op(program, origin)
    return origin.phase == "backward" and zero.phase == "forward" and zero.id in op.inputs


def _is_on_the_way_in(program: Program, meeting: Place, way: tuple[Place, ...], zero: Zero) -> bool:
    """Whether a zero is a factor of the argument of the op with the infinite slope: no mask of its result.

    What a cut-off argument is multiplied by, as that of a `relu`, is told as a mask unless rounding is to blame.
    """
    origin, met = forward_op(program, program[way[0].id]), forward_op(program, program[meeting.id])
    is_before = met.phase == "forward" and met.id < origin.id
    return is_before and (zero.why == "multiplied by 0" or _rounding_to_an_edge(program, way) is not None)


def _other_factor(program: Program, place: Place, way: tuple[Place, ...]) -> Place | None:
    """What the bad number is multiplied by; at the origin, what is divided by zero."""
    node = program[place.id]
    if node.op in QUOTIENTS:
        return operand(program, place, 0)
    if node.op not in _PRODUCTS:
        return None
    on_way = set(way)
    others = [one for k in (0, 1) if (one := operand(program, place, k)) not in on_way]
    return others[0] if others else None


def _unmasked(program: Program, way: tuple[Place, ...]) -> Nonfinite | None:
    origin = program[way[0].id]
    local = exact_entry(program, way[0])
    if origin.op in ("input", "constant", "cholesky"):
        return Nonfinite("invalid-domain", program, way, None)
    if local is None:
        return None
    meeting = _meeting(program, way)
    if local.is_defined:
        found = Nonfinite("overflow", program, way, local, meeting=meeting)
        return found if local.is_beyond(origin.dtype) else _taken_for_zero(found) or _inside(found)
    culprit = culprit_of(program, way[0])
    found = Nonfinite("invalid-domain", program, way, local, culprit, meeting)
    lost = _rounding_to_an_edge(program, way)
    if culprit is None or lost is not None:
        return found if lost is None else _rounded(found, *lost)
    return replace(found, kind="singular-point") if _is_at_edge(program, origin, culprit) else found


def _rounding_to_an_edge(program: Program, way: tuple[Place, ...]) -> tuple[Place, Exact | None] | None:
    """The rounding without which the op that made the infinity would have had a finite slope."""
    origin, culprit = program[way[0].id], culprit_of(program, way[0])
    if culprit is None or not (value_at(program, culprit) == 0 or _is_at_edge(program, origin, culprit)):
        return None
    before = prune(program, [culprit.id])
    # What adding to 1 has rounded away may be as small as exp(-700), which is 1010 bits further on.
    for bits in (EXACT_BITS, MANY_BITS):
        lost = rounded_away(program, culprit, _exact_values(before, bits))
        if lost is not None:
            return lost
    return None


def _taken_for_zero(found: Nonfinite) -> Nonfinite | None:
    """An operand smaller than the smallest normal number, which many a processor is told to take for zero."""
    program, place = found.program, culprit_of(found.program, found.trail[0])
    value = None if place is None else value_at(program, place)
    if place is None or value is None or not 0 < abs(value) < SMALLEST_NORMAL.get(program[place.id].dtype, 0):
        return None
    return replace(found, kind="underflow", culprit=place)


def _inside(found: Nonfinite) -> Nonfinite | None:
    """An op that has the result of its function in its dtype, and returned infinity: a step inside of it overflowed."""
    return found if np.isinf(value_at(found.program, found.trail[0]) or 0.0) else None


def _rounded(found: Nonfinite, place: Place, exact: Exact | None) -> Nonfinite | None:
    """The operand is where it is because an op before it lost its result, or its last digits."""
    program, node = found.program, found.program[place.id]
    found = replace(found, rounded=place, rounded_exact=exact)
    if exact is not None and exact.is_below(node.dtype):
        return replace(found, kind="underflow")
    if exact is not None and not exact.is_defined:
        # Divided by something that had overflowed: the fault is there.
        earlier = _trail(program, place)
        first = exact_entry(program, earlier[0])
        if len(earlier) > 1 and first is not None and first.is_beyond(program[earlier[0].id].dtype):
            return replace(found, kind="overflow", trail=(*earlier, *found.trail), exact=first)
    if value_at(program, place) != 0:
        return replace(found, kind="absorption")
    return replace(found, kind="cancellation" if node.op in SUMS else "invalid-domain")


def _meeting(program: Program, way: tuple[Place, ...]) -> Place | None:
    """Where an infinity first became NaN."""
    for place in way:
        value = value_at(program, place)
        if value is not None and bool(np.isnan(value)):
            return place
    return None


def _is_at_edge(program: Program, origin: Node, culprit: Place) -> bool:
    """Whether the op is asked right at the end of its domain, and not beyond it."""
    edges = TABLE[origin.op].edges
    return value_at(program, culprit) in edges

"""The slope witness: the reference against a difference of the function itself, which uses no derivative rule.

Rules are ours and can be wrong; then a wrong reference would be called proven. The forward program alone, evaluated
a step beside the point in many digits, has no part in them. Where the two surely differ the fault is ours: it is told
as such, and no verdict rests on the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from flint import arb

from gradproof.clock import TimeIsOver, tick
from gradproof.domains.ball import BallDomain
from gradproof.engine.difference import AlongDirection, random_direction, slope, slopes
from gradproof.engine.linearise import input_gradient
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import Policy, Run, run
from gradproof.errors import GradproofError, our_fault
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.judge.climb import SHARP_ENTRIES
from gradproof.judge.reference import Reference
from gradproof.ops import TABLE, Arithmetic
from gradproof.options import Options

# Where the report shows the true gradient to all digits, balls of many bits run in any case, and two more runs of the
# forward part are a few hundredths of a check. `Options.witness` asks for the rest.
WITNESSED_ENTRIES = SHARP_ENTRIES
# An accusation is rare and weighs more: a reference that calls a gradient wrong is witnessed in larger programs too.
ACCUSING_ENTRIES = 100 * WITNESSED_ENTRIES
# Slopes that agree to this share of their terms are equal in every dtype; a rule is not wrong by so little.
AGREEMENT = 2.0**-70
SHARE_OF_LARGEST = 2.0**-10  # the entries of a direction even out those of the gradient, down to this share
PERSISTS = 2.0**-8  # a gap that a smaller step changes by more than this share belongs to the step
LOCAL_BITS = 320
ROUNDED_UP = 1.0 + 1e-6  # covers the rounding of a sum of radii
HALVING = 2.0**27 + 1.0  # times a float64, it parts its digits into two halves
SAFE = 1e-250  # products above this, and below its reciprocal, have exact halves


def contradicted(
    program: Program,
    wrt: Sequence[int],
    reference: Reference,
    which: Sequence[int],
    options: Options,
    *,
    accusing: bool = False,
) -> dict[int, str]:
    """Why the references of these sources cannot be right, for those whose slope the function does not have."""
    known = [k for k in which if reference.oracles[k] == "ball" and _is_known(reference.enclosures[k])]
    most = ACCUSING_ENTRIES if accusing else WITNESSED_ENTRIES
    if not known or (entry_count(program) > most and not options.witness):
        return {}
    at = reference.beside or reference.run
    try:
        if _gap(program, wrt, reference, known, at) is None:
            return {}
        guilty = {k: _gap(program, wrt, reference, [k], at) for k in known}
        words = _rule_at_fault(program, [wrt[k] for k in known], at)
    except (GradproofError, TimeIsOver):
        return {}  # the function cannot be evaluated beside the point: there is no witness
    return {k: _told(*gap, words) for k, gap in guilty.items() if gap is not None}


def contradicts_rows(
    program: Program, wrt: Sequence[int], rows: Sequence[Enclosure], at: Run, options: Options
) -> bool:
    """Whether an entry of the output seems to have another slope than its row of these enclosures says."""
    if entry_count(program) > WITNESSED_ENTRIES and not options.witness:
        return False
    rng = np.random.default_rng(0)
    direction = {
        id: random_direction(rng, program[id], _evened(np.abs(one.mid).max(axis=0)))
        for id, one in zip(wrt, rows)
    }
    taken = {node.id: at.values[node.id] for node in program.nodes if node.is_discrete}
    for row, found in enumerate(slopes(AlongDirection(program, direction, taken))):
        own = {id: Enclosure(one.mid[row], one.rad[row]) for id, one in zip(wrt, rows)}
        if _apart(found, *_expected(own, direction)):
            return True
    return False


def _is_known(enclosure: Enclosure) -> bool:
    return enclosure.is_bounded and enclosure.mid.size > 0 and bool(np.isfinite(enclosure.mid).all())


def _told(by_rules: float, by_function: float, rule: str) -> str:
    return our_fault(
        f"along one direction its derivative rules give the slope {by_rules:.6g}, and the function itself has "
        f"{by_function:.6g}{rule}"
    )


def _gap(
    program: Program, wrt: Sequence[int], reference: Reference, which: Iterable[int], at: Run
) -> tuple[float, float] | None:
    """The slope along a random direction by the reference and by the function, where they surely differ."""
    rng = np.random.default_rng(0)
    enclosures = {wrt[k]: reference.enclosures[k] for k in which if not program[wrt[k]].is_discrete}
    direction = {id: random_direction(rng, program[id], _evened(one.mid)) for id, one in enclosures.items()}
    taken = {node.id: at.values[node.id] for node in program.nodes if node.is_discrete}
    along = AlongDirection(program, direction, taken)
    expected, size = _expected(enclosures, direction)
    found = slope(along)
    if not _apart(found, expected, size):
        return None
    closer = slope(along, further=True)
    with BallDomain(LOCAL_BITS).active():
        gap = abs(closer - expected)
        is_settled = abs(closer - found) <= gap * PERSISTS
    if not is_settled or not _apart(closer, expected, size):
        return None
    return float(expected.mid()), float(closer.mid())


def _evened(mid: Array) -> Array:
    """Sizes of a direction with which all entries of a gradient count alike."""
    sizes = np.abs(mid)
    largest = float(sizes.max(initial=0.0))
    if largest == 0.0:
        return np.ones(sizes.shape)
    return np.asarray(largest / np.maximum(sizes, SHARE_OF_LARGEST * largest))


def _expected(enclosures: Mapping[int, Enclosure], direction: Mapping[int, Array]) -> tuple[arb, arb]:
    """The inner product of gradient and direction as a ball, and the size of its terms."""
    with BallDomain(LOCAL_BITS).active():
        total, size = arb(0), 0.0
        for id, one in enclosures.items():
            g, d = np.ravel(one.mid), np.ravel(direction[id])
            width = float(np.sum(one.rad.ravel() * np.abs(d))) * ROUNDED_UP
            total += sum((_dot(*parts) for parts in ((g.real, d.real), (g.imag, d.imag))), arb(0)) + arb(
                0, width
            )
            size += float(np.sum(np.abs(g.real * d.real) + np.abs(g.imag * d.imag))) + width
        return total, arb(size)


def _dot(g: Array, d: Array) -> arb:
    """The exact sum of products with the few bits of a direction, in which halves of numbers lose nothing."""
    sizes = np.abs(g[(g != 0.0) & (d != 0.0)]) * np.abs(d[(g != 0.0) & (d != 0.0)])
    if not sizes.size:
        return arb(0)
    if not (sizes.min() > SAFE and sizes.max() < 1.0 / SAFE and np.abs(g).max() < 1.0 / SAFE):
        return sum((arb(float(x)) * arb(float(y)) for x, y in zip(g, d)), arb(0))
    high = HALVING * g
    high = high - (high - g)
    terms = [*(high * d).tolist(), *((g - high) * d).tolist()]
    near = math.fsum(terms)
    rest = math.fsum([*terms, -near])
    return arb(near) + arb(rest, abs(rest) * 2.0**-52)


def _apart(found: arb, expected: arb, size: arb) -> bool:
    if not found.is_finite():
        return False
    with BallDomain(LOCAL_BITS).active():
        return bool(abs(found - expected) > size * AGREEMENT)


def _rule_at_fault(program: Program, wrt: Sequence[int], at: Run) -> str:
    """The first op whose own rule differs from the op's own difference, in words."""
    taken = {node.id: at.values[node.id] for node in program.nodes if node.is_discrete}
    precise = run(BallDomain(LOCAL_BITS), program, Policy(decisions=taken))
    passed = descendants(program, wrt) & ancestors(program, program.outputs)
    for node in program.nodes:
        op = TABLE.get(node.op)
        has_rule = op is not None and (op.slopes is not None or op.pullback is not None)
        if node.id in passed and has_rule and node.op != "stop_gradient" and _departs(precise, node, passed):
            place = f" ({node.span})" if node.span else ""
            return f"; the rule of `{node.op}`{place} departs"
    return ""


def _departs(at: Run, node: Node, passed: set[int]) -> bool:
    """Whether a pullback differs from the difference of its op, for a random direction and gradient."""
    tick()
    xs, y = [at.values[id] for id in node.inputs], at.values[node.id]
    if isinstance(y, tuple):
        return False
    moving = [i for i, id in enumerate(node.inputs) if id in passed]
    rng, m = np.random.default_rng(0), at.m
    one = np.ones(())
    dirs = {
        i: random_direction(rng, at.program[node.inputs[i]], np.broadcast_to(one, np.shape(xs[i])))
        for i in moving
    }
    seed = random_direction(rng, node, np.broadcast_to(one, node.shape))
    with m.domain.active():
        gy = m.literal(seed)
        gradients = {i: input_gradient(m, node, i, gy, y, xs) for i in moving}
        rules = sum((_inner(g, dirs[i]) for i, g in gradients.items() if g is not None), arb(0))
        step = arb(2) ** -(LOCAL_BITS // 3)
        sides = [_inner(_moved(m, node, xs, dirs, sign * step), seed) for sign in (1, -1)]
        found = (sides[0] - sides[1]) / (2 * step)
        return bool(found.is_finite()) and bool(abs(found - rules) > (1 + abs(rules)) * AGREEMENT)


def _moved(m: Arithmetic, node: Node, xs: Sequence[Any], dirs: dict[int, Array], step: arb) -> Any:
    moved = [
        np.asarray(x + step * m.domain.enter(dirs[i]), dtype=object) if i in dirs else x
        for i, x in enumerate(xs)
    ]
    return getattr(m, node.op)(*moved, **node.params)


def _inner(a: Any, b: Array) -> arb:
    """Re(conj(a) b) of balls and plain numbers."""
    total = arb(0)
    for one, other in zip(np.asarray(a, dtype=object).reshape(-1), np.asarray(b).reshape(-1)):
        other = complex(other)
        total += arb(one.real) * arb(other.real)
        if types.is_complex(types.dtype_name(np.asarray(b))):
            total += arb(one.imag if hasattr(one, "imag") else 0) * arb(other.imag)
    return total

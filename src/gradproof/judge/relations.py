"""Relations between a wrong gradient and the right one that betray how it came about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import push_forward
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, descendants
from gradproof.ir.types import Array
from gradproof.judge.rule import HandWrittenRule, Point, Reading, Trials, moved_near, read

# The trials are computed in float64 and the constants of a rule may be float32 numbers; two formulas that agree
# to this over several points and entries are the same.
SAME = 1e-5
NEGLIGIBLE = 1e-7  # of the largest entry: below, an entry has no digits to compare
MOST_EDGES = 64  # uses of a value in the forward that are left out one by one
FAR = (-1.0, 0.3, 3.0, -3.0)  # multiples of the inputs at which other branches are looked for


def is_close(a: Array, b: Array, tolerance: float = SAME) -> bool:
    """Whether two arrays are the same up to rounding, entry by entry."""
    return a.shape == b.shape and not bool(_apart(a, b, tolerance).any())


def _apart(a: Array, b: Array, tolerance: float) -> Array:
    size = np.maximum(np.abs(a), np.abs(b))
    return np.asarray(np.abs(a - b) > tolerance * np.maximum(size, NEGLIGIBLE * size.max(initial=0.0)))


def applies_jacobian(rule: HandWrittenRule, readings: Sequence[Reading], i: int) -> bool:
    """Whether the rule multiplies what comes in with the Jacobian of its forward, and not with its transpose."""
    if len(rule.outputs) != 1 or rule.program[rule.outputs[0]].shape != rule.program[rule.inputs[i]].shape:
        return False
    for reading in readings:
        inputs = dict(zip(rule.inputs, reading.point.inputs))
        at = run(Ieee("float64"), rule.forward, Policy(inputs=inputs, redecide=True))
        moved = push_forward(at, {rule.inputs[i]: reading.point.upstream[0]}, rule.outputs)
        forth, meant = np.asarray(moved.get(rule.outputs[0], np.nan)), reading.meant[i]
        # Where the two are the same, as for a function of single entries, it is no mistake to take the other one.
        if meant is None or not is_close(meant.mid, forth) or is_close(forth, reading.true[i].mid):
            return False
    return True


def constant_factor(pairs: Sequence[tuple[Array, Array]]) -> float | None:
    """The number that turns the right gradient into the returned one at every point; None if there is none."""
    factors = []
    for meant, true in pairs:
        size = float(np.vdot(true, true).real)
        if size == 0.0:
            if np.any(meant):
                return None
            continue
        factor = complex(np.vdot(true, meant)) / size
        if abs(factor.imag) > SAME * abs(factor) or not is_close(meant, factor.real * true):
            return None
        factors.append(factor.real)
    alike = bool(factors) and is_close(np.asarray(factors), np.full(len(factors), factors[0]))
    return factors[0] if alike and factors[0] != 0.0 else None


def is_simple(factor: float) -> bool:
    """A whole number, or one over a whole number: what people forget or count twice."""
    whole = max(abs(factor), 1.0 / abs(factor))
    return whole < 1e4 and abs(whole - round(whole)) <= SAME * whole


def wrong_entries(meant: Array, true: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(k) for k in index) for index in np.argwhere(_apart(meant, true, SAME)))


def lonely_copy(rule: HandWrittenRule, readings: Sequence[Reading], i: int) -> float | None:
    """The number of copies that broadcasting made, if the rule returned the gradient of one of them."""
    shape = readings[0].point.upstream[0].shape if len(rule.outputs) == 1 and rule.has_upstream else ()
    for axis, length in enumerate(shape):
        for place in {0, length - 1} if length > 1 else ():
            if all(_is_of_one_copy(rule, reading, i, axis, place) for reading in readings):
                return float(length)
    return None


def _is_of_one_copy(rule: HandWrittenRule, reading: Reading, i: int, axis: int, place: int) -> bool:
    up = reading.point.upstream[0]
    mask = np.zeros(up.shape)
    mask[(slice(None),) * axis + (place,)] = 1.0
    part = read(rule, Point(reading.point.inputs, (up * mask,))).true[i].mid
    meant = reading.meant[i]
    return meant is not None and is_close(meant.mid, part)


def branch_of(rule: HandWrittenRule, trials: Trials, i: int) -> tuple[int, bool] | None:
    """The decision on one side of which the rule is wrong and on the other right, and the wrong side."""
    meant, true = trials.here.meant[i], trials.here.true[i].mid
    if meant is None or not rule.decisions:
        return None
    wrong = _apart(meant.mid, true, SAME)
    if not wrong.all() and wrong.ndim:
        for node, value in zip(rule.decisions, trials.here.decisions):
            if value.dtype == bool and value.shape == wrong.shape and wrong.any():
                # An entry may be right by chance where the slopes of both sides agree: the wrong ones must
                # lie on one side, and the other side must be right throughout.
                for side in (True, False):
                    inside = value == side
                    if bool(inside[wrong].all()) and not inside.all() and wrong[inside].mean() > 0.5:
                        return node.id, side
        return None
    return _scalar_branch(rule, trials, i)


def _scalar_branch(rule: HandWrittenRule, trials: Trials, i: int) -> tuple[int, bool] | None:
    """All entries are wrong here: look for points where the decisions fall otherwise and the rule is right."""
    rng = np.random.default_rng(2)
    for far in FAR:
        moved = tuple(moved_near(far * array, rng) for array in rule.here.inputs)
        try:
            reading = read(rule, Point(moved, rule.here.upstream))
        except GradproofError:
            continue
        part = reading.meant[i]
        if not reading.is_finite or part is None or not is_close(part.mid, reading.true[i].mid):
            continue
        for node, before, after in zip(rule.decisions, trials.here.decisions, reading.decisions):
            if before.dtype == bool and before.size == 1 and bool(before.any()) != bool(after.any()):
                return node.id, bool(before.any())
    return None


def left_out(rule: HandWrittenRule, readings: Sequence[Reading], i: int, cut: bool) -> int | None:
    """The op of the forward whose contribution (`cut`), or whose own slope, the rule has left out."""
    moving = descendants(rule.forward, rule.inputs)
    edges = [
        (node.id, k)
        for node in rule.forward.nodes
        if node.id in moving and node.id not in rule.inputs
        for k, id in enumerate(node.inputs)
        if id in moving
    ]
    for edge in edges[:MOST_EDGES]:
        if all(_is_without(rule, reading, i, edge, cut) for reading in readings):
            return edge[0]
    return None


def _is_without(rule: HandWrittenRule, reading: Reading, i: int, edge: tuple[int, int], cut: bool) -> bool:
    def edit(node: Node, k: int, gy: Any, gx: Any) -> Any:
        if (node.id, k) != edge:
            return gx
        if cut:
            return None
        return gy if np.shape(gy) == np.shape(gx) else gx

    meant = reading.meant[i]
    return meant is not None and is_close(meant.mid, read(rule, reading.point, edit=edit).true[i].mid)


def extra_term(readings: Sequence[Reading], i: int) -> tuple[str, float] | None:
    """What was added to the right gradient: a number or a multiple of the input, each times the upstream."""
    apart = [part.mid for r in readings if (part := r.difference[i]) is not None]
    if sum(a.size for a in apart) < 3:
        return None  # two numbers are too few to tell a law from chance
    inputs = [r.point.inputs[i] for r in readings]
    ups = [r.point.upstream[0] for r in readings]
    if all(up.shape not in (x.shape, ()) for up, x in zip(ups, inputs)):
        return None
    for what, basis in (("number", ups), ("multiple", [up * x for up, x in zip(ups, inputs)])):
        factor = constant_factor([(a, np.broadcast_to(b, a.shape)) for a, b in zip(apart, basis)])
        if factor is not None:
            return what, factor
    return None

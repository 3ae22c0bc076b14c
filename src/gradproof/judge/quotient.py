"""Recognises a finite difference inside a rule and recovers its step from the error it makes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradproof.errors import GradproofError
from gradproof.ir.types import Array
from gradproof.judge.rule import HandWrittenRule, Point, Reading, Trials, outputs_at, read

Scheme = Literal["forward", "backward", "central"]

MOST_ENTRIES = 8  # entries at which the same step has to explain the error; more would only cost time
ITERATIONS = 12  # of a fixed-point iteration that gains a factor of about the step each time
FIRST_STEP = 1e-3
MATCH = 1e-3  # of the error; another formula does not follow the quotient so closely over several points
SAME_STEP = 1e-4  # relative; a constant in the rule that is the step


@dataclass(frozen=True)
class Quotient:
    """A difference quotient that returns what the rule returns, and the error its step predicts."""

    scheme: Scheme
    step: float
    index: tuple[int, ...]  # the entry at which the numbers hold
    difference: float  # what the rule returned minus the true slope
    predicted: float  # step/2 times the second derivative, or step^2/6 times the third


def find_quotient(rule: HandWrittenRule, trials: Trials, i: int) -> Quotient | None:
    """The difference quotient behind input `i`, if one step explains the error everywhere."""
    apart = trials.here.difference[i]
    if apart is None or np.iscomplexobj(apart.mid) or not np.any(apart.mid):
        return None
    entries = _entries(apart.mid)
    try:
        readings = [trials.here, *(read(rule, other.point, exact=True) for other in trials.elsewhere[:1])]
        for central in (False, True):
            step = _recovered(rule, trials.here, i, entries[0], central)
            if step is None or not _is_written(rule, step):
                continue
            if all(_explains(rule, reading, i, entries, step, central) for reading in readings):
                return _described(rule, trials.here, i, entries[0], step, central)
    except GradproofError:
        return None
    return None


def _entries(apart: Array) -> list[tuple[int, ...]]:
    """The entries that are most off, the worst first."""
    order = np.argsort(-np.abs(apart).reshape(-1), kind="stable")[:MOST_ENTRIES]
    return [tuple(int(k) for k in np.unravel_index(int(flat), apart.shape)) for flat in order]


def _recovered(
    rule: HandWrittenRule, reading: Reading, i: int, index: tuple[int, ...], central: bool
) -> float | None:
    """The step whose quotient is off by just as much; its error grows as the step, or as its square."""
    apart = reading.difference[i]
    assert apart is not None
    wanted, step = float(apart.mid[index]), FIRST_STEP
    for _ in range(ITERATIONS):
        ratio = wanted / (_error(rule, reading, i, index, step, central) or math.inf)
        if not math.isfinite(ratio) or ratio == 0.0 or (central and ratio < 0):
            return None
        step *= math.sqrt(ratio) if central else ratio
        if not 1e-200 < abs(step) < 1e6:
            return None
    return step


def _error(
    rule: HandWrittenRule, reading: Reading, i: int, index: tuple[int, ...], step: float, central: bool
) -> float:
    """The quotient with this step minus the true slope."""
    point = reading.point
    ahead = _weighted(rule, point, i, index, step)
    behind = _weighted(rule, point, i, index, -step if central else 0.0)
    m = ahead[0]
    with m.domain.active():
        slope = m.sub(ahead[1], behind[1]) / m.literal(np.asarray(2 * step if central else step))
        error = m.sub(slope, m.literal(np.asarray(reading.true[i].mid[index])))
        return float(m.domain.leave(error)[0])


def _weighted(
    rule: HandWrittenRule, point: Point, i: int, index: tuple[int, ...], step: float
) -> tuple[Any, Any]:
    """<upstream, outputs> with one entry of one input shifted, in the exact domain."""
    shifts = [np.zeros(array.shape) for array in point.inputs]
    shifts[i][index] = step
    result, values = outputs_at(rule, Point(point.inputs, point.upstream, tuple(shifts)))
    m, total = result.m, None
    with m.domain.active():
        for value, up in zip(values, point.upstream):
            part = m.sum(m.mul(value, m.literal(up)), axes=tuple(range(up.ndim)))
            total = part if total is None else m.add(total, part)
    return m, total


def _explains(
    rule: HandWrittenRule,
    reading: Reading,
    i: int,
    entries: list[tuple[int, ...]],
    step: float,
    central: bool,
) -> bool:
    apart, true = reading.difference[i], reading.true[i]
    assert apart is not None
    floor = 1e-13 * float(np.abs(true.mid).max(initial=0.0))
    scale = float(np.abs(apart.mid).max(initial=0.0))
    for index in entries:
        error = _error(rule, reading, i, index, step, central)
        allowed = MATCH * max(abs(error), 1e-3 * scale) + floor
        if not abs(error - float(apart.mid[index])) <= allowed:
            return False
    return True


def _is_written(rule: HandWrittenRule, step: float) -> bool:
    """Whether the rule adds or subtracts this step somewhere; what ran out of sight cannot be asked."""
    if not rule.is_followed:
        return True
    own = {node.id for node in rule.forward.nodes}
    for node in rule.piece.nodes:
        if node.op in ("add", "sub") and node.id not in own:
            for id in node.inputs:
                value = np.abs(np.asarray(rule.piece[id].value, np.float64))
                if bool((np.abs(value - abs(step)) <= SAME_STEP * abs(step)).any()):
                    return True
    return False


def _described(
    rule: HandWrittenRule, reading: Reading, i: int, index: tuple[int, ...], step: float, central: bool
) -> Quotient:
    apart = reading.difference[i]
    assert apart is not None
    scheme: Scheme = "central" if central else "forward" if step > 0 else "backward"
    # The leading term of the error, from a quotient with a step so small that only that term is left.
    tiny = step * 2.0**-20
    leading = _error_in_balls(rule, reading, i, index, tiny, central)
    predicted = leading * (2.0**40 if central else 2.0**20)
    return Quotient(scheme, abs(step), index, float(apart.mid[index]), predicted)


def _error_in_balls(
    rule: HandWrittenRule, reading: Reading, i: int, index: tuple[int, ...], step: float, central: bool
) -> float:
    """As `_error`, with the slope taken from the same arithmetic: the difference is far below float64."""
    point, half = reading.point, step / 2
    errors = []
    for size in (step, half):
        ahead = _weighted(rule, point, i, index, size)
        behind = _weighted(rule, point, i, index, -size if central else 0.0)
        errors.append((ahead[0], ahead[1], behind[1], size))
    m = errors[0][0]
    with m.domain.active():
        slopes = [m.sub(a, b) / m.literal(np.asarray(2 * s if central else s)) for _, a, b, s in errors]
        gap = float(m.domain.leave(m.sub(slopes[0], slopes[1]))[0])
    # The error at `step` minus that at half of it is a half, or three quarters, of the first.
    return gap * (4 / 3 if central else 2.0)

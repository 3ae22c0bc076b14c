"""How a rule answers to its upstream gradient: a derivative is linear in it, whatever the function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gradproof.ir.types import Array
from gradproof.judge.relations import is_close
from gradproof.judge.rule import HandWrittenRule, Point, read

SMALL = 2.0**-12  # an upstream so small is below any bound that a gradient is clipped to


@dataclass(frozen=True, eq=False)
class Response:
    """Whether the upstream gradient matters to a rule, and how."""

    is_linear: bool = True
    is_ignored: bool = False
    is_clipped: bool = False  # right for a small upstream, less than right for a large one
    detail: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


def response(rule: HandWrittenRule, i: int) -> Response:
    """What becomes of the gradient for input `i` when the upstream is scaled, reversed, added to, or zero."""
    if not rule.has_upstream or rule.results[i] is None:
        return Response()
    if not rule.uses_upstream and not rule.is_followed:
        return _unseen(rule, i)
    here = rule.here.upstream
    rng = np.random.default_rng(1)
    other = tuple(
        np.asarray(rng.uniform(0.5, 1.5, up.shape) * (np.abs(up).max(initial=0.0) or 1.0)) for up in here
    )
    one, two, doubled, both, none = (
        _meant(rule, i, up) for up in (here, other, _times(here, 2.0), _plus(here, other), _times(here, 0.0))
    )
    if not all(np.isfinite(part).all() for part in (one, two, doubled, both, none)):
        return Response()
    if is_close(one, two) and is_close(one, none) and np.any(one):
        return Response(False, True)
    if is_close(doubled, 2.0 * one) and is_close(both, one + two):
        return Response()
    return _bent(rule, i, one, doubled, none)


def _bent(rule: HandWrittenRule, i: int, one: Array, doubled: Array, none: Array) -> Response:
    here = rule.here.upstream
    small = read(rule, Point(rule.here.inputs, _times(here, SMALL)))
    true = read(rule, rule.here).true[i].mid
    meant = small.meant[i]
    assert meant is not None
    if is_close(meant.mid, small.true[i].mid) and bool((np.abs(one) <= np.abs(true) * (1 + 1e-9)).all()):
        return Response(False, is_clipped=True)
    if np.any(none):
        size = float(np.abs(none).max())
        return Response(False, detail="constant part", numbers={"constant": size})
    worst = np.unravel_index(int(np.argmax(np.abs(one))), one.shape)
    with np.errstate(all="ignore"):
        power = (
            math.log2(abs(float(doubled[worst]) / float(one[worst])))
            if one[worst] and doubled[worst]
            else 0.0
        )
    return Response(False, detail="power", numbers={"power": power})


def _unseen(rule: HandWrittenRule, i: int) -> Response:
    """The results came from outside the record: ignored if they are what an upstream of ones asks for."""
    result = rule.results[i]
    assert result is not None
    ones = tuple(np.ones(up.shape) for up in rule.here.upstream)
    wanted = read(rule, Point(rule.here.inputs, ones)).true[i].mid
    given = np.asarray(rule.program[result].value, np.float64)
    differs = not is_close(wanted, read(rule, rule.here).true[i].mid)
    ignored = differs and wanted.shape == given.shape and is_close(given, wanted)
    return Response(not ignored, ignored)


def _meant(rule: HandWrittenRule, i: int, upstream: tuple[Array, ...]) -> Array:
    part = read(rule, Point(rule.here.inputs, upstream)).meant[i]
    assert part is not None
    return part.mid


def _times(arrays: tuple[Array, ...], factor: float) -> tuple[Array, ...]:
    return tuple(np.asarray(array * factor) for array in arrays)


def _plus(arrays: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(np.asarray(a + b) for a, b in zip(arrays, others))

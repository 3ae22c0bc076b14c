"""Reductions over groups of rows that share a number; sums of groups are `scatter_add`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._margin import midpoint, without_self
from gradproof.ops._op import ANY, Sample, op

_ROWS = ((1.0, 2.0), (0.5, -4.0), (8.0, -0.25), (0.0, 3.0), (6.0, 5.0))
_GROUPS = (0, 2, 0, 2, 3)


def _own_places(n: int, shape: tuple[int, ...]) -> Any:
    return np.arange(n).reshape(n, *(1,) * (len(shape) - 1))


def _first_best(score: Any, groups: Any, size: int) -> Any:
    """The first row of each group in which the score is largest; 0 for a group without rows."""
    n = score.shape[0]
    best = np.full((size, *score.shape[1:]), -np.inf)
    np.maximum.at(best, groups, score)
    place = np.full(best.shape, n)
    np.minimum.at(place, groups, np.where(score == best[groups], _own_places(n, score.shape), n))
    return np.where(place == n, 0, place)


def _segment_extreme(name: str, largest: bool) -> None:
    """The row of `x` that holds the largest (or smallest) entry of its group, for each group and column."""

    def forward(m: Any, x: Any, groups: Any, size: int) -> Any:
        score = np.asarray(midpoint(m, x), np.float64)
        return _first_best(score if largest else -score, groups, size)

    def margin(m: Any, y: Any, x: Any, groups: Any, size: int) -> Any:
        winner = m.take(m.take_along(x, y, axis=0), groups, axis=0)
        lead = m.sub(winner, x) if largest else m.sub(x, winner)
        own = _own_places(x.shape[0], x.shape) == np.take(y, groups, axis=0)
        lead = without_self(m, lead, own)
        mid, rad = m.domain.leave(lead)
        # As in `least`: a surely negative lead first, else the one of least lower end.
        hinge = _first_best(-np.where(mid + rad < 0.0, -np.inf, mid - rad), groups, size)
        filled = np.zeros(size, bool)
        filled[groups] = True
        empty = ~filled.reshape(size, *(1,) * (x.ndim - 1))
        return without_self(m, m.take_along(lead, hinge, axis=0), empty)

    def decide_near(y: Any, xs: Any, xs_dot: Any, size: int) -> Any:
        groups = xs[1].astype(np.int64)
        x, x_dot = (xs[0], xs_dot[0]) if largest else (-xs[0], -xs_dot[0])
        tied = x == np.take(np.take_along_axis(x, y, axis=0), groups, axis=0)
        speed = np.where(tied, x_dot, -np.inf)
        fastest = _first_best(speed, groups, size)
        stays = np.take_along_axis(speed, y, axis=0) == np.take_along_axis(speed, fastest, axis=0)
        return np.where(stays, y, fastest)

    samples = (Sample((_ROWS, _GROUPS), {"size": 4}),)
    op(name, forward=forward, margin=margin, decide_near=decide_near, compares="line", samples=samples)


_segment_extreme("segment_argmax", largest=True)
_segment_extreme("segment_argmin", largest=False)


def _segment_table(m: Any, groups: Any, size: int) -> Any:
    """The rows of each group, one line per group, filled up with the number one past the last row."""
    groups = np.asarray(groups)
    counts = np.bincount(groups, minlength=size)
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    table = np.full((size, max(int(counts.max(initial=0)), 1)), groups.size)
    table[groups[order], np.arange(groups.size) - starts[groups[order]]] = order
    return table


def _members(m: Any, x: Any, table: Any) -> Any:
    """(group, member, ...): the entries of each group, missing members being 1."""
    ones = m.literal(np.ones((1, *x.shape[1:])))
    return m.take(m.concat(x, ones, axis=0), table, axis=0)


def _segment_prod_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, groups: Any, size: int) -> Any:
    """As for `prod`, within each group: the product of all other members, without a division."""
    table = m.segment_table(groups, size=size)
    members = m.conj(_members(m, x, table))
    before = m.cumprod(members, axis=1, exclusive=True)
    others = m.mul(before, m.cumprod(members, axis=1, exclusive=True, reverse=True))
    each = m.mul(others, m.reshape(gy, shape=(size, 1, *gy.shape[1:])))
    gx = m.scatter_add(each, table, size=x.shape[0] + 1)
    return m.strided_slice(gx, begin=(0,) * x.ndim, end=tuple(x.shape))


op("segment_table", forward=_segment_table)  # integers to integers: nothing to differentiate
op(
    "segment_prod",
    forward=lambda m, x, groups, size: m.prod(_members(m, x, _segment_table(m, groups, size)), axes=(1,)),
    pullback=_segment_prod_pullback,
    samples=(
        Sample((_ROWS, _GROUPS), {"size": 4}),
        Sample(((0.0, 2.0, 0.0, 5.0), (1, 1, 1, 0)), {"size": 2}),
    ),
    kinds=ANY,
)

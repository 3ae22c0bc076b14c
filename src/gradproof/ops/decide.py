"""Decisions entry by entry: ops with a discrete result, and `select`, which acts on one.

All branching of a program happens in decisions; data flows through `select`, `take_along` and the like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.ir import types
from gradproof.ir.shapes import joint_shape
from gradproof.ops._margin import least_of, midpoint
from gradproof.ops._op import ANY, Sample, op

_SAMPLES = ((2.0, -0.75), ((0.5, 7.0, -3.0), 1.25), ((0.5, 0.5), (0.5, 1.0)))


def _comparison(name: str, compare: Any, true_margin: Any, false_margin: Any) -> None:
    """A comparison decides by midpoints where no decision was recorded; its margin says whether it may."""

    def forward(m: Any, a: Any, b: Any) -> Any:
        return compare(midpoint(m, a), midpoint(m, b))

    def margin(m: Any, y: Any, a: Any, b: Any) -> Any:
        return m.select(y, true_margin(m, a, b), false_margin(m, a, b))

    def decide_near(y: Any, xs: Any, xs_dot: Any) -> Any:
        ahead = xs_dot[0] - xs_dot[1]
        return np.where((xs[0] == xs[1]) & (ahead != 0.0), compare(ahead, 0.0), y)

    op(name, forward=forward, margin=margin, decide_near=decide_near, samples=_SAMPLES)


def _less_by(m: Any, a: Any, b: Any) -> Any:
    return m.sub(b, a)


def _greater_by(m: Any, a: Any, b: Any) -> Any:
    return m.sub(a, b)


def _apart_by(m: Any, a: Any, b: Any) -> Any:
    """|a - b|, with the sign that the midpoints have."""
    difference = m.sub(a, b)
    return m.select(midpoint(m, difference) < 0.0, m.neg(difference), difference)


def _minus_apart_by(m: Any, a: Any, b: Any) -> Any:
    return m.neg(_apart_by(m, a, b))


_comparison("less", np.less, _less_by, _greater_by)
_comparison("less_equal", np.less_equal, _less_by, _greater_by)
_comparison("greater", np.greater, _greater_by, _less_by)
_comparison("greater_equal", np.greater_equal, _greater_by, _less_by)
# Equal reals are always at a tie: the slightest move makes them differ.
_comparison("equal", np.equal, _minus_apart_by, _apart_by)
_comparison("not_equal", np.not_equal, _apart_by, _minus_apart_by)

# Discrete in and out: these have no margin of their own.
op("logical_and", forward=lambda m, a, b: np.logical_and(a, b))
op("logical_or", forward=lambda m, a, b: np.logical_or(a, b))
op("logical_xor", forward=lambda m, a, b: np.logical_xor(a, b))
op("logical_not", forward=lambda m, a: np.logical_not(a))
op("one_hot", forward=lambda m, indices, depth: np.asarray(indices)[..., None] == np.arange(depth))

# A number is finite, or is none at all: a perturbation does not change it, so there is no margin either.
op("is_finite", forward=lambda m, x: np.isfinite(sum(map(np.abs, _bounds(m, x)))), kinds=ANY)
op("is_nan", forward=lambda m, x: np.isnan(midpoint(m, x)), kinds=ANY)


def _bounds(m: Any, x: Any) -> tuple[Any, Any]:
    return (x, np.zeros(x.shape)) if types.is_discrete_array(x) else m.domain.leave(x)


LARGEST = 2.0**61  # doubled, as the margins do, an integer still fits into 64 bits


def _integers(y: Any, name: str) -> Any:
    y = np.where(np.isinf(y), np.copysign(LARGEST, y), y)  # of log(0), say, which a maximum then puts aside
    if not bool(np.all(np.abs(y) <= LARGEST)):
        raise NotSupported(f"the result of `{name}` is not a number below 2**61 in size")
    return np.asarray(y).astype(np.int64)


def _half(m: Any, integers: Any) -> Any:
    """Half-integers, exact if float64 can hold them, else as exact as the domain can divide."""
    if np.all(np.abs(integers) < 2**53):
        return m.domain.enter(np.asarray(integers / 2.0))
    return m.div(m.domain.enter(np.asarray(integers)), 2)


def _steps(name: str, step: Any, bounds: Any, ahead: Any, behind: Any) -> None:
    """A staircase: `bounds` gives, for the step y, twice the ends of the interval of x that leads to it.

    At an end, moving up leads to the step `ahead(x)`, moving down to `behind(x)`.
    """

    def forward(m: Any, x: Any) -> Any:
        return _integers(step(midpoint(m, x)), name)

    def margin(m: Any, y: Any, x: Any) -> Any:
        low, high = (_half(m, end) for end in bounds(np.asarray(y, np.int64)))
        return least_of(m, m.sub(x, low), m.sub(high, x))

    def decide_near(y: Any, xs: Any, xs_dot: Any) -> Any:
        x, x_dot = xs[0], xs_dot[0]
        low, high = bounds(np.asarray(y))
        at_end = (2.0 * x == low) | (2.0 * x == high)
        moved = np.where(x_dot > 0.0, ahead(x), behind(x))
        return np.where(at_end & (x_dot != 0.0), moved, y).astype(np.int64)

    samples = ((2.25,), ((-0.75, 7.0, -3.5, 0.5),))
    op(name, forward=forward, margin=margin, decide_near=decide_near, compares="grid", samples=samples)


_steps("floor", np.floor, lambda y: (2 * y, 2 * y + 2), np.floor, lambda x: np.ceil(x) - 1)
_steps("ceil", np.ceil, lambda y: (2 * y - 2, 2 * y), lambda x: np.floor(x) + 1, np.ceil)
# Half-way cases go to the even neighbour.
_steps(
    "round",
    np.rint,
    lambda y: (2 * y - 1, 2 * y + 1),
    lambda x: np.floor(x + 0.5),
    lambda x: np.ceil(x - 0.5),
)
_steps(
    "truncate",  # towards zero, as casts to integers do
    np.trunc,
    lambda y: (2 * y - 2 * (y <= 0), 2 * y + 2 * (y >= 0)),
    lambda x: np.where(x > 0, np.floor(x), np.floor(x) + 1),
    lambda x: np.where(x > 0, np.ceil(x) - 1, np.ceil(x)),
)


def _sign_margin(m: Any, y: Any, x: Any) -> Any:
    size = _apart_by(m, x, m.zeros(()))
    return m.select(y == 0, m.neg(size), m.select(y > 0, x, m.neg(x)))


def _sign_near(y: Any, xs: Any, xs_dot: Any) -> Any:
    return np.where((xs[0] == 0.0) & (xs_dot[0] != 0.0), np.sign(xs_dot[0]), y).astype(np.int64)


op(
    "sign",
    forward=lambda m, x: _integers(np.sign(midpoint(m, x)), "sign"),
    margin=_sign_margin,
    decide_near=_sign_near,
    compares="grid",
    samples=((2.25,), ((-0.75, 0.0),)),
)


def _select(m: Any, condition: Any, a: Any, b: Any) -> Any:
    shape = joint_shape(np.shape(condition), a.shape, b.shape)
    condition = np.broadcast_to(condition, shape)
    return m.domain.lift(lambda u, v: np.where(condition, u, v), a, b)


def _select_pullback(m: Any, i: int, gy: Any, y: Any, condition: Any, a: Any, b: Any) -> Any:
    zero = m.zeros(())
    if i == 1:
        return m.sum_to(m.select(condition, gy, zero), shape=a.shape)
    return m.sum_to(m.select(condition, zero, gy), shape=b.shape)


op(
    "select",
    moves_only=True,
    forward=_select,
    pullback=_select_pullback,
    linear="jointly",
    samples=(
        Sample(((True, False, True), (1.0, 2.0, 3.0), (-4.0, 0.5, 7.0))),
        Sample((((True,), (False,)), (1.0, 2.0, 3.0), -4.0)),
    ),
    kinds=ANY,
)

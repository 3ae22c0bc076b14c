"""Decisions: ops with a discrete result, and the ops that act on one. All branching of a program happens here."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._op import Sample, op


def _midpoints(m: Any, *xs: Any) -> list[Any]:
    return [x if _is_discrete(x) else m.domain.leave(x)[0] for x in xs]


def _is_discrete(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "biu"


def _comparison(name: str, compare: Any, true_margin: Any, false_margin: Any) -> None:
    """A comparison decides by midpoints where no decision was recorded; its margin says whether it may."""

    def forward(m: Any, a: Any, b: Any) -> Any:
        return compare(*_midpoints(m, a, b))

    def margin(m: Any, y: Any, a: Any, b: Any) -> Any:
        return m.select(y, true_margin(m, a, b), false_margin(m, a, b))

    op(name, forward=forward, margin=margin, samples=((2.0, -0.75), ((0.5, 7.0, -3.0), 1.25)))


_comparison("less", np.less, lambda m, a, b: m.sub(b, a), lambda m, a, b: m.sub(a, b))
_comparison("less_equal", np.less_equal, lambda m, a, b: m.sub(b, a), lambda m, a, b: m.sub(a, b))
_comparison("greater", np.greater, lambda m, a, b: m.sub(a, b), lambda m, a, b: m.sub(b, a))
_comparison("greater_equal", np.greater_equal, lambda m, a, b: m.sub(a, b), lambda m, a, b: m.sub(b, a))


def _select(m: Any, condition: Any, a: Any, b: Any) -> Any:
    shape = np.broadcast_shapes(np.shape(condition), a.shape, b.shape)
    condition = np.broadcast_to(condition, shape)
    return m.domain.lift(lambda u, v: np.where(condition, u, v), a, b)


def _select_pullback(m: Any, i: int, gy: Any, y: Any, condition: Any, a: Any, b: Any) -> Any:
    zero = m.zeros(())
    if i == 1:
        return m.sum_to(m.select(condition, gy, zero), shape=a.shape)
    return m.sum_to(m.select(condition, zero, gy), shape=b.shape)


op(
    "select",
    forward=_select,
    pullback=_select_pullback,
    linear="jointly",
    samples=(Sample(((True, False, True), (1.0, 2.0, 3.0), (-4.0, 0.5, 7.0))),),
)

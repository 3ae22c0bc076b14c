"""A `stop_gradient` that no first derivative feels, told from one that cuts, and from one that is zero by chance."""

from __future__ import annotations

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.capture import Inner
from gradproof.ir.program import Builder
from gradproof.judge.neutral import neutral_stops


def _is_neutral(kind: str) -> bool:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    value = np.array([0.3, -0.2, 0.8])
    x = Traced(m, builder.input(value, "x"), value)
    zero = Traced(m, builder.input(np.array(0.0), "w"), np.array(0.0))
    mean = m.div(m.sum(x, axes=(0,)), m.literal(np.array(3.0)))
    stop = m.stop_gradient(mean if kind != "cut" else x)
    if kind == "variance":
        y = m.sum(m.square(m.sub(x, stop)), axes=(0,))
    elif kind == "cut":
        y = m.sum(m.mul(x, stop), axes=(0,))
    else:  # times a weight that happens to be zero here
        y = m.add(m.mul(zero, stop), m.sum(x, axes=(0,)))
    result = m.mul(x, m.literal(np.array(2.0)))
    pool = builder.build([y.id, result.id])
    return stop.id in neutral_stops(pool, [Inner((y.id,), (None,), (result.id,))], [stop.id])


def test_the_mean_of_a_variance_is_neutral() -> None:
    assert _is_neutral("variance")


def test_a_cut_is_not() -> None:
    assert not _is_neutral("cut")


def test_what_is_zero_at_this_point_only_is_not() -> None:
    assert not _is_neutral("chance")

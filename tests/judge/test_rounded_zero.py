"""A gradient that is exactly zero, multiplied with what rounding leaves of a zero."""

from __future__ import annotations

import numpy as np

import gradproof as gp
from gradproof.judge.verdict import Verdict


def test_equal_rows_behind_a_normalisation_leave_nothing_but_rounding() -> None:
    """As in an example with `jnp.ones` for its data: the normalised rows are 0, and rounding says otherwise."""
    rng = np.random.default_rng(0)
    x = np.ones((3, 2), np.float32)
    first, second = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 8), (8, 4)))
    with gp.watch() as report:
        w, v = gp.Variable(first), gp.Variable(second)
        with gp.GradientTape() as tape:
            h = np.matmul(x, w)
            h = (h - np.mean(h, axis=0)) / np.sqrt(np.var(h, axis=0) + np.float32(1e-5))
            loss = np.mean((np.matmul(np.tanh(h), v) - np.float32(1)) ** 2)
        gradients = tape.gradient(loss, [w, v])
    assert np.any(gradients[1])  # it is rounding, and not zero
    assert {one.verdict for one in report.gradients} == {Verdict.CORRECT}

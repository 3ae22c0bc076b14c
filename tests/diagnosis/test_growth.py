"""How often a line ran, and by how much each execution changes the gradient."""

from __future__ import annotations

import numpy as np

import gradproof as gp


def test_a_product_that_is_lowered_to_several_ops_counts_once_for_each_execution() -> None:
    def loss(matrix):  # type: ignore[no-untyped-def]
        state = np.ones(2)
        for _ in range(50):
            state = matrix @ state
        return np.sum(state)

    (gradient,) = gp.check(loss, 3.0 * np.eye(2)).gradients
    (found,) = [one for one in gradient.diagnostics if one.kind == "exploding"]
    assert found.primary is not None
    assert found.primary.label == "grows 3.0 times with each of 50 executions"

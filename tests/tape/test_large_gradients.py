"""Error bounds of gradients with many entries."""

from __future__ import annotations

import numpy as np

import gradproof


def test_the_error_of_many_entries_is_bounded_without_the_slow_rungs() -> None:
    x = gradproof.Variable(np.linspace(-2.0, 2.0, 100_000))
    with gradproof.GradientTape() as tape:
        y = np.sum(np.tanh(x) ** 2)
    gradient = tape.gradient(y, x)
    proof = gradient._proof
    assert proof.enclosure(0) is proof.judgement(0).enclosure
    assert float(np.max(gradient.error)) < 1e-14

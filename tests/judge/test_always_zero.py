"""Entries that are zero whatever the inputs are count as constants, and only those."""

from __future__ import annotations

import numpy as np

import gradproof
from gradproof.judge.verdict import Verdict
from gradproof.tape import Array


def _squared_distances(x: Array) -> Array:
    sizes = np.sum(x**2, axis=1)
    return sizes[:, None] - 2.0 * (x @ np.transpose(x)) + sizes[None, :]


POINTS = np.array([[100.0, 200.0], [100.01, 200.0], [0.0, 1.0]])


def test_roots_of_a_distance_to_itself_leave_the_others_their_gradient() -> None:
    report = gradproof.check(lambda x: np.sum(np.sqrt(np.maximum(_squared_distances(x), 0.0))), POINTS)
    (gradient,) = report.gradients
    apart = POINTS[:, None] - POINTS[None, :]
    lengths = np.sqrt((apart**2).sum(-1)) + np.eye(3)
    expected = 2.0 * (apart / lengths[..., None]).sum(1)
    assert gradient.verdict is Verdict.NONFINITE
    assert gradient.reference is not None
    np.testing.assert_allclose(gradient.reference, expected, rtol=1e-9)


def test_a_zero_that_moves_is_no_constant() -> None:
    report = gradproof.check(
        lambda x: np.sqrt(x[0] ** 2 - 2.0 * x[0] * x[1] + x[1] ** 2), np.array([2.0, 2.0])
    )
    assert report.verdicts == (Verdict.UNDEFINED,)


def test_what_is_held_still_does_not_cancel() -> None:
    def f(x: Array) -> Array:
        apart = np.exp(x) - gradproof.tape.stop_gradient(np.exp(x))
        return np.sqrt(x - x) + apart

    (gradient,) = gradproof.check(f, np.array(1.0)).gradients
    assert gradient.reference is None or abs(float(gradient.reference) - np.e) < 1e-12

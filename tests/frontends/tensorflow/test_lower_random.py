"""How random samples move with the parameters of their distribution, against distribution functions of SciPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

pytest.importorskip("tensorflow")

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import gradient
from gradproof.frontends.assemble.lowering import Lowering
from gradproof.frontends.tensorflow.lower import TABLE
from gradproof.ir.program import Builder

pytestmark = pytest.mark.tensorflow

STEP = 1e-5


def slopes(op: str, sample: float, *parameters: float) -> list[float]:
    """What the lowering says of a sample that was drawn with these parameters."""
    m = Lowering(Builder())
    event = SimpleNamespace(outputs=(SimpleNamespace(array=np.asarray(sample)),))
    shape = m.constant(np.zeros(0, np.int32))
    inputs = [m.input(np.asarray(parameter)) for parameter in parameters]
    y = TABLE[op](m, event, shape, *inputs)
    assert y.value == sample
    domain = BallDomain(128)
    with domain.active():
        return [float(domain.leave(g)[0]) for g in gradient(domain, m.builder.build([y.id]))]


def moved(below: Any, sample: float, parameters: tuple[float, ...], k: int) -> float:
    """The sample that has the same share of the distribution below it when parameter k moves."""
    ends = []
    for sign in (1, -1):
        changed = tuple(p + sign * STEP * (place == k) for place, p in enumerate(parameters))
        share = below(sample, *parameters)
        ends.append(
            scipy.optimize.brentq(
                lambda x, changed=changed, share=share: below(x, *changed) - share,
                sample - 1e-2, sample + 1e-2, xtol=1e-14,
            )
        )  # fmt: skip
    return (ends[0] - ends[1]) / (2 * STEP)


def test_a_gamma_sample_moves_with_its_shape():
    def below(x: float, a: float) -> float:
        return float(scipy.special.gammainc(a, x))

    (slope,) = slopes("RandomGamma", 0.8, 1.3)
    assert slope == pytest.approx(moved(below, 0.8, (1.3,), 0), rel=1e-6)


def test_a_truncated_normal_sample_moves_with_all_its_parameters():
    """TensorFlow's own gradient holds the standardised bounds fixed instead, and has slope 1 by the mean."""

    def below(x: float, mean: float, deviation: float, low: float, high: float) -> float:
        a, b = (low - mean) / deviation, (high - mean) / deviation
        return float(scipy.stats.truncnorm.cdf(x, a, b, loc=mean, scale=deviation))

    parameters = (0.2, 0.9, -1.0, 1.5)
    found = slopes("StatelessParameterizedTruncatedNormal", 0.5, *parameters)
    expected = [moved(below, 0.5, parameters, k) for k in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert abs(found[0] - 1.0) > 0.1

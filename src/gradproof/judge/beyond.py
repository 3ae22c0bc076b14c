"""True gradients that are finite and yet too large for a float64, in which enclosures are handed on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.absorbed import absorbed
from gradproof.engine.refine import gradient_measure
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.judge.reference import Evidence

Array = np.ndarray[Any, Any]

BITS = 256  # a ball that is finite at this precision is a number, whatever its exponent


def known_in_balls(evidence: Evidence, k: int) -> Array:
    """Which entries of a gradient are numbers in exact arithmetic, be they too large for a float64."""
    wrt = evidence.wrt[k : k + 1]
    domain = BallDomain(BITS)
    try:
        result = run(domain, evidence.program)
        with domain.active():
            (gradient,) = gradient_measure(wrt)(result)
            hidden = absorbed(result, wrt).get(wrt[0], np.False_)
    except GradproofError:
        return np.zeros(evidence.program[wrt[0]].shape, bool)
    balls = np.asarray(gradient, object)
    finite = np.array([bool(ball.is_finite()) for ball in balls.flat]).reshape(balls.shape)
    return np.asarray(finite & ~hidden)

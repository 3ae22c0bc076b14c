"""Random numbers that move with the parameters of their distribution."""

from __future__ import annotations

from typing import Any


def gamma_sample(m: Any, alpha: Any, sample: Any) -> Any:
    """The sample drawn, moving with `alpha` so that the probability below it stays the same.

    That is how a sample depends on its shape, to first order: x' = -(dP/da) / (dP/dx).
    """
    drawn = m.constant(sample)
    moved = m.igamma(alpha, drawn) - m.igamma(m.stop_gradient(alpha), drawn)
    return drawn - moved / m.gamma_density(m.stop_gradient(alpha), drawn)


def gamma_slope(m: Any, alpha: Any, sample: Any) -> Any:
    """How fast it moves."""
    return -(m.igamma_da(alpha, sample) / m.gamma_density(alpha, sample))

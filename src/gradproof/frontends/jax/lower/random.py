"""Random numbers that are differentiated by the parameters of their distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.jax.lower._table import lower
from gradproof.frontends.recipes.samples import gamma_sample, gamma_slope


@lower("random_gamma")
def _random_gamma(m: Any, event: Any, key: Any, alpha: Any) -> Any:
    """Or its logarithm, which keeps small samples apart: there the sample is what its exponential is."""
    returned = np.asarray(event.outputs[0].array)
    if not event.attrs["log_space"]:
        return gamma_sample(m, alpha, returned)
    sample = m.exp(m.constant(returned))
    moved = m.igamma(alpha, sample) - m.igamma(m.stop_gradient(alpha), sample)
    return m.constant(returned) - moved / (m.gamma_density(m.stop_gradient(alpha), sample) * sample)


@lower("random_gamma_grad")
def _random_gamma_grad(m: Any, event: Any, alpha: Any, sample: Any) -> Any:
    return gamma_slope(m, alpha, sample)

"""Random numbers that are differentiated by the parameters of their distribution."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.recipes.samples import gamma_sample, gamma_slope
from gradproof.frontends.tensorflow.lower._table import lower


@lower("RandomGamma", "StatelessRandomGammaV2")
def _random_gamma(m: Any, event: Any, shape: Any, *inputs: Any) -> Any:
    return gamma_sample(m, inputs[-1], event.outputs[0].array)


@lower("StatelessRandomGammaV3")
def _random_gamma_v3(
    m: Any, event: Any, shape: Any, key: Any, counter: Any, algorithm: Any, alpha: Any
) -> Any:
    return gamma_sample(m, alpha, event.outputs[0].array)


@lower("RandomGammaGrad")
def _random_gamma_grad(m: Any, event: Any, alpha: Any, sample: Any) -> Any:
    return gamma_slope(m, alpha, sample)


@lower("StatelessParameterizedTruncatedNormal")
def _truncated_normal(m: Any, event: Any, *inputs: Any) -> Any:
    """As for the gamma distribution: the share of the mass below the sample stays the same."""
    parameters = inputs[-4:]
    drawn = m.constant(event.outputs[0].array)
    fixed = tuple(m.stop_gradient(parameter) for parameter in parameters)
    moved = _share_below(m, drawn, *parameters) - _share_below(m, drawn, *fixed)
    mean, deviation, low, high = fixed
    standard = (drawn - mean) / deviation
    bell = m.times(m.exp(m.mul(m.square(standard), -0.5)), constant="1/sqrt(2pi)")
    density = bell / (deviation * _mass(m, mean, deviation, low, high))
    return drawn - moved / density


def _mass(m: Any, mean: Any, deviation: Any, low: Any, high: Any) -> Any:
    return m.ndtr((high - mean) / deviation) - m.ndtr((low - mean) / deviation)


def _share_below(m: Any, x: Any, mean: Any, deviation: Any, low: Any, high: Any) -> Any:
    below = m.ndtr((x - mean) / deviation) - m.ndtr((low - mean) / deviation)
    return below / _mass(m, mean, deviation, low, high)

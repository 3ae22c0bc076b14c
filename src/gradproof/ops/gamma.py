"""The gamma function and its relatives, incomplete gamma and beta functions, and Hurwitz zeta."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import Sample, op

_NOT_POLES = ((0.5,), ((7.0, -1.25, 0.0078125),))
_SHAPES = ((0.5, 0.25), ((2.0, 7.0, 3.5), (3.0, 2.0, 9.0)))
_POSITIONS = ((0.5, 1.5, 0.25), ((2.0, 7.0), (3.0, 1.25), (0.75, 0.5)))

# log|gamma(x)|: real also between the poles on the left.
op("lgamma", slopes=(lambda m, y, x: m.digamma(x),), samples=_NOT_POLES, edges=(0.0,))
op("gamma", slopes=(lambda m, y, x: y * m.digamma(x),), samples=_NOT_POLES, edges=(0.0,))
op("digamma", slopes=(lambda m, y, x: m.polygamma(1, x),), samples=_NOT_POLES, edges=(0.0,))
# The derivative of digamma of order n + more, a natural number; nothing says what lies between two of them.
op(
    "polygamma",
    slopes=(None, lambda m, y, n, x, more=0: m.polygamma(n, x, more=more + 1)),
    samples=(((1, 2), 0.5), ((0, 3), (7.0, 1.25)), Sample((1, -0.75), {"more": 1})),
    edges=(0.0,),
)
op(
    "lbeta",
    forward=lambda m, a, b: m.lgamma(a) + m.lgamma(b) - m.lgamma(a + b),
    slopes=(
        lambda m, y, a, b: m.digamma(a) - m.digamma(a + b),
        lambda m, y, a, b: m.digamma(b) - m.digamma(a + b),
    ),
    samples=((0.5, 3.0), ((2.5, 7.0), 1.25)),
    edges=(0.0,),
)

# The regularised incomplete gamma functions P(a, x) and Q(a, x), for a > 0 and x >= 0.
op(
    "igamma",
    slopes=(lambda m, y, a, x: m.igamma_da(a, x), lambda m, y, a, x: m.gamma_density(a, x)),
    samples=_SHAPES,
    edges=(0.0,),
)
op(
    "igammac",
    slopes=(lambda m, y, a, x: -m.igamma_da(a, x), lambda m, y, a, x: -m.gamma_density(a, x)),
    samples=_SHAPES,
    edges=(0.0,),
)
op(
    "gamma_density",  # x^(a-1) exp(-x) / gamma(a)
    slopes=(
        lambda m, y, a, x: y * (m.log(x) - m.digamma(a)),
        lambda m, y, a, x: y * ((a - 1) / x - 1),
    ),
    samples=_SHAPES,
    edges=(0.0,),
)
# The derivative of P by a has no closed form, and no further derivative by a is known here.
op(
    "igamma_da",
    slopes=(None, lambda m, y, a, x: m.gamma_density(a, x) * (m.log(x) - m.digamma(a))),
    samples=(((2, 7, 3), (0.25, 2.0, 9.0)), (0.5, 0.25)),
    edges=(0.0,),
)


def _log_beta_slope(m: Any, shape: Any, a: Any, b: Any) -> Any:
    """What the logarithm of 1/B(a, b) gains per unit of one of its shapes."""
    return m.digamma(m.add(a, b)) - m.digamma(shape)


# The regularised incomplete beta function I(a, b, x), for a, b > 0 and 0 <= x <= 1.
op(
    "betainc",
    slopes=(
        lambda m, y, a, b, x: m.betainc_da(a, b, x),
        lambda m, y, a, b, x: m.betainc_db(a, b, x),
        lambda m, y, a, b, x: m.beta_density(a, b, x),
    ),
    samples=_POSITIONS,
    edges=(0.0, 1.0),
)
op(
    "beta_density",  # x^(a-1) (1-x)^(b-1) / B(a, b)
    slopes=(
        lambda m, y, a, b, x: y * (m.log(x) + _log_beta_slope(m, a, a, b)),
        lambda m, y, a, b, x: y * (m.log1p(-x) + _log_beta_slope(m, b, a, b)),
        lambda m, y, a, b, x: y * ((a - 1) / x - (b - 1) / (1 - x)),
    ),
    samples=_POSITIONS,
    edges=(0.0, 1.0),
)
op(
    "betainc_da",
    slopes=(
        None,
        None,
        lambda m, y, a, b, x: m.beta_density(a, b, x) * (m.log(x) + _log_beta_slope(m, a, a, b)),
    ),
    samples=((2, 3, (0.25, 0.875)), (0.5, 1.5, 0.25)),
    edges=(0.0, 1.0),
)
op(
    "betainc_db",
    slopes=(
        None,
        None,
        lambda m, y, a, b, x: m.beta_density(a, b, x) * (m.log1p(-x) + _log_beta_slope(m, b, a, b)),
    ),
    samples=((2, 3, (0.25, 0.875)), (0.5, 1.5, 0.25)),
    edges=(0.0, 1.0),
)

# Hurwitz zeta: the sum of (q + k)^-s for s > 1 and q > 0.
op(
    "zeta",
    slopes=(lambda m, y, s, q: m.zeta_ds(s, q), lambda m, y, s, q: -s * m.zeta(m.add(s, 1), q)),
    samples=((1.5, 0.5), ((2.0, 7.0), (3.0, 1.25))),
    edges=(1.0,),
)
op(
    "zeta_ds",
    slopes=(
        None,
        lambda m, y, s, q: -m.zeta(m.add(s, 1), q) - m.mul(s, m.zeta_ds(m.add(s, 1), q)),
    ),
    samples=(((2, 3), (0.5, 3.0)), (1.5, 0.5)),
    edges=(1.0,),
)

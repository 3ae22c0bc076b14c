"""The gamma function and its relatives, incomplete gamma and beta functions, Hurwitz zeta, on real balls."""

from __future__ import annotations

from flint import acb, arb

from gradproof.domains.ball_precise import NAN, Kernel, centred, monotone

ZERO = arb(0)


def _lgamma(x: arb) -> arb:
    """log|gamma(x)|, as the frameworks have it; on the left by reflection."""
    if x > 0:
        return x.lgamma()
    return (arb.pi() / abs(x.sin_pi())).log() - (1 - x).lgamma()


def trigamma(x: arb) -> arb:
    return arb(2).zeta(x)


def _polygamma(n: arb, x: arb, more: int = 0) -> arb:
    """(-1)^(n+1) n! zeta(n + 1, x) for natural n; the complex zeta gives it for negative x too."""
    n = n + more
    if n == 0:
        return x.digamma()
    if not (n.is_integer() and n > 0):
        return NAN
    sign = -1 if (n / 2).is_integer() else 1
    zeta = (n + 1).zeta(x) if x > 0 else acb(n + 1).zeta(acb(x)).real
    return sign * (n + 1).gamma() * zeta


def _zeta(s: arb, q: arb) -> arb:
    return s.zeta(q) if s > 1 and q > 0 else NAN


def lower(a: arb, x: arb) -> arb:
    """P(a, x): a series of positive terms where x is small, else what Q leaves of 1."""
    if not (a > 0 and x >= 0):
        return NAN
    if x == 0:
        return ZERO
    return _rising_series(a, x) if x < a + 1 else 1 - x.gamma_upper(a, regularized=1)


def upper(a: arb, x: arb) -> arb:
    """Q(a, x) = 1 - P(a, x)."""
    if not (a > 0 and x >= 0):
        return NAN
    if x == 0:
        return arb(1)
    return 1 - _rising_series(a, x) if x < a + 1 else x.gamma_upper(a, regularized=1)


def _rising_series(a: arb, x: arb) -> arb:
    return (a * x.log() - x - (a + 1).lgamma()).exp() * x.hypgeom_1f1(1, a + 1)


def gamma_density(a: arb, x: arb) -> arb:
    """x^(a-1) exp(-x) / gamma(a), the slope of P by x; an exact 0 raised to a power has its true value."""
    if not (a > 0 and x >= 0):
        return NAN
    if x == 0:
        return x ** (a - 1)  # 1 for a = 1, 0 above, and infinite below
    return ((a - 1) * x.log() - x - a.lgamma()).exp()


def beta_lower(a: arb, b: arb, x: arb) -> arb:
    """The share of the beta distribution below x."""
    if not (a > 0 and b > 0 and x >= 0 and x <= 1):
        return NAN
    if x == 0 or x == 1:
        return x
    if x * (a + b) <= a:
        return x.beta_lower(a, b, regularized=True)
    return 1 - (1 - x).beta_lower(b, a, regularized=True)


def beta_density(a: arb, b: arb, x: arb) -> arb:
    """x^(a-1) (1-x)^(b-1) / B(a, b), the slope of the incomplete beta function by x."""
    if not (a > 0 and b > 0 and x >= 0 and x <= 1):
        return NAN
    if x == 0 or x == 1:
        return x ** (a - 1) * (1 - x) ** (b - 1) * (a + b).gamma() / (a.gamma() * b.gamma())
    lbeta = a.lgamma() + b.lgamma() - (a + b).lgamma()
    return ((a - 1) * x.log() + (b - 1) * (-x).log1p() - lbeta).exp()


def _spread_by_shape(a: arb, *others: arb) -> arb:
    """|dP/da| <= half the mean of |log t - digamma(a)| under the density, so sqrt(trigamma(a)) / 2."""
    del others
    return trigamma(a).sqrt() / 2


def zeta_bound(s: arb, q: arb, reach: arb) -> arb:
    """What |zeta(z, q)| cannot exceed for |z - s| <= reach.

    Each term (q + k)^-z is at most as large as at one of the two real ends: it falls with Re z for q + k > 1
    and grows for q + k < 1.
    """
    return _zeta(s - reach, q) + _zeta(s + reach, q)


def zeta_reach(s: arb, q: arb) -> arb:
    """A distance from s that keeps away from the pole at 1, and within which q^-s does not grow by much."""
    from_pole, by_growth = (s.lower() - 1) / 2, 1 / (1 + abs(q.log()).upper())
    return (from_pole if from_pole < by_growth else by_growth).mid()


def _zeta_spread(s: arb, q: arb) -> arb:
    """Cauchy's estimate of the slope by s."""
    reach = zeta_reach(s, q)
    return zeta_bound(s, q, reach) / reach


KERNELS: dict[str, Kernel] = {
    "gamma": lambda x: x.gamma(),
    "lgamma": _lgamma,
    "digamma": monotone(lambda x: x.digamma()),
    "polygamma": _polygamma,
    "zeta": centred(_zeta, _zeta_spread, lambda s, q: s * _zeta(s + 1, q)),
    "igamma": centred(lower, _spread_by_shape, gamma_density),
    "igammac": centred(upper, _spread_by_shape, gamma_density),
    "gamma_density": gamma_density,
    "betainc": centred(beta_lower, _spread_by_shape, lambda a, b, x: _spread_by_shape(b), beta_density),
    "beta_density": beta_density,
}

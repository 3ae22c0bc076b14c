"""Derivatives of special functions by a parameter, for which there is no closed form, on real balls.

A central difference with a step so small that its error is far below the last digit asked for. That error is
proven by Cauchy's estimate: if |f| <= bound on the disc of radius r around a, then

    |f'(a) - (f(a + h) - f(a - h)) / (2 h)| <= bound / r * q / (1 - q),    q = (h / r)^2.

The functions here are integrals (or sums) of positive terms t^(a-1) w(t), so on the disc they are at most as
large as at the real part u of the parameter, but for a factor gamma(u) / |gamma(u + iv)|, which is at most
exp(v^2 trigamma(u) / 2).
"""

from __future__ import annotations

from flint import arb, ctx

from gradproof.domains.ball_gamma import (
    beta_density,
    beta_lower,
    gamma_density,
    lower,
    trigamma,
    upper,
    zeta_bound,
    zeta_reach,
)
from gradproof.domains.ball_precise import NAN, Kernel, precision

ZERO = arb(0)
ATTEMPTS = 6


def difference(f: Kernel, a: arb, reach: arb, bound: arb) -> arb:
    """f'(a) at an exact `a`, where |f| <= bound within `reach` of it in the complex plane."""
    wanted, extra = ctx.prec, 16
    y = NAN
    for _ in range(ATTEMPTS):
        with precision(2 * (wanted + extra)):
            h = (reach * arb(2) ** -(wanted // 2 + extra)).mid()
            q = (h / reach) ** 2
            error = bound / reach * q / (1 - q)
            y = (f(a + h) - f(a - h)) / (2 * h) + arb(0, error.upper())
        if y.is_finite() and y.rel_accuracy_bits() >= wanted:
            break
        extra *= 2
    return y + 0


def _reach(a: arb) -> arb:
    """How far one may go from the shape `a` so that the bound stays near the function's own size."""
    reach = a / 2
    limit = trigamma(reach).rsqrt()
    return (reach if reach < limit else limit).mid()


def _growth(a: arb, reach: arb) -> arb:
    return (reach * reach * trigamma(a - reach) / 2).exp()


def _spread(x: arb) -> arb:
    return x - x.mid()


def _igamma_da(a: arb, x: arb) -> arb:
    """P falls with a and Q grows with it; the smaller of the two keeps its digits."""
    if not (a > 0 and x >= 0 and a.is_finite() and x.is_finite()):
        return NAN
    if x == 0:
        return ZERO
    middle, at = a.mid(), x.mid()
    reach = _reach(middle)
    growth = _growth(middle, reach)
    if at < middle:
        y = difference(lambda s: lower(s, at), middle, reach, growth * lower(middle - reach, at))
    else:
        y = -difference(lambda s: upper(s, at), middle, reach, growth * upper(middle + reach, at))
    # The second slope by a is the integral of density * ((log t - digamma)^2 - trigamma) up to x,
    # which lies between -trigamma and trigamma; the one by x is closed.
    if not a.is_exact():
        y = y + trigamma(a) * _spread(a)
    if not x.is_exact():
        y = y + gamma_density(a, x) * (x.log() - a.digamma()) * _spread(x)
    return y


def _share(a: arb, b: arb, x: arb, below: bool) -> arb:
    """The share of the beta distribution below x, or above it, each without cancellation."""
    return beta_lower(a, b, x) if below else (1 - x).beta_lower(b, a, regularized=True)


def _betainc_slope(a: arb, b: arb, x: arb, by_second: bool) -> arb:
    """The share below x falls with a and grows with b; again the smaller share keeps its digits."""
    if not (a > 0 and b > 0 and x >= 0 and x <= 1 and all(part.is_finite() for part in (a, b, x))):
        return NAN
    if x == 0 or x == 1:
        return ZERO
    first, second, at = a.mid(), b.mid(), x.mid()
    below = bool(at * (first + second) < first)

    def share(shape: arb) -> arb:
        return _share(first, shape, at, below) if by_second else _share(shape, second, at, below)

    shape = second if by_second else first
    reach = _reach(shape)
    largest = share(shape - reach if below != by_second else shape + reach)
    y = difference(share, shape, reach, _growth(shape, reach) * largest)
    return (y if below else -y) + _betainc_slope_spread(a, b, x, by_second)


def _betainc_slope_spread(a: arb, b: arb, x: arb, by_second: bool) -> arb:
    """As above; the mixed slope by a and b is at most 2 sqrt(trigamma(a) trigamma(b)), by Cauchy-Schwarz."""
    own, other, logarithm = (b, a, (-x).log1p()) if by_second else (a, b, x.log())
    y = ZERO
    if not own.is_exact():
        y = y + trigamma(own) * _spread(own)
    if not other.is_exact():
        y = y + 2 * (trigamma(own) * trigamma(other)).sqrt() * _spread(other)
    if not x.is_exact():
        y = y + beta_density(a, b, x) * (logarithm - own.digamma() + (a + b).digamma()) * _spread(x)
    return y


def _zeta_ds(s: arb, q: arb) -> arb:
    if not (s > 1 and q > 0 and s.is_finite() and q.is_finite()):
        return NAN
    order, at = s.mid(), q.mid()
    reach = zeta_reach(order, at)
    y = difference(lambda z: z.zeta(at), order, reach, zeta_bound(order, at, reach))
    # Cauchy's estimates of the second slopes, on the whole ball; the first slope by q is -s zeta(s + 1, q).
    reach = zeta_reach(s, q)
    if not s.is_exact():
        y = y + 2 * zeta_bound(s, q, reach) / (reach * reach) * _spread(s)
    if not q.is_exact():
        y = y + (s + reach) * zeta_bound(s + 1, q, reach) / reach * _spread(q)
    return y


KERNELS: dict[str, Kernel] = {
    "igamma_da": _igamma_da,
    "betainc_da": lambda a, b, x: _betainc_slope(a, b, x, by_second=False),
    "betainc_db": lambda a, b, x: _betainc_slope(a, b, x, by_second=True),
    "zeta_ds": _zeta_ds,
}

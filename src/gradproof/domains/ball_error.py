"""The error function and its relatives, and other integrals of elementary functions, on real balls."""

from __future__ import annotations

from flint import arb

from gradproof.domains.ball_precise import Kernel, centred, monotone


def _erfcx(x: arb) -> arb:
    return (x * x).exp() * x.erfc()


def _dawson(x: arb) -> arb:
    return (-x * x).exp() * x.erfi() * arb.const_sqrt_pi() / 2


def _dawson_kernel(x: arb) -> arb:
    """Beyond its turning points at 0.92 and -0.92 the function falls in size; its slope is never above 1."""
    if abs(x) > 1:
        return monotone(_dawson)(x)
    return centred(_dawson, lambda x: arb(0, 1))(x)


def _ndtr(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _ndtri(p: arb) -> arb:
    return -arb(2).sqrt() * (2 * p).erfcinv()


def _log_ndtr(x: arb) -> arb:
    """On the right from the small other tail, on the left from the tail without its exponential factor."""
    if not x < 0:
        return (-_ndtr(-x)).log1p()
    square = x * x / 2
    return (square.hypgeom_u(0.5, 0.5) / arb.const_sqrt_pi() / 2).log() - square


def _density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _bell(x: arb) -> arb:
    return 2 * (-x * x).exp() / arb.const_sqrt_pi()


def _exp1(x: arb) -> arb:
    return x.expint(1)


def _spence(x: arb) -> arb:
    """Li2(1 - x), reflected where 1 - x would be rounded."""
    if x == 0:
        return arb.pi() ** 2 / 6
    if not 0 < x < 0.5:
        return (1 - x).polylog(2)
    return arb.pi() ** 2 / 6 - x.log() * (-x).log1p() - x.polylog(2)


def _half_turn(x: arb) -> arb:
    return arb.pi() * x * x / 2


KERNELS: dict[str, Kernel] = {
    "erf": centred(lambda x: x.erf(), _bell),
    "erfc": centred(lambda x: x.erfc(), _bell),
    "erfcx": monotone(_erfcx),
    "erfinv": lambda x: x.erfinv(),
    "erfcinv": lambda x: x.erfcinv(),
    "dawson": _dawson_kernel,
    "ndtr": centred(_ndtr, _density),
    "ndtri": _ndtri,
    "log_ndtr": centred(_log_ndtr, lambda x: _density(x) / _ndtr(x)),
    "fresnel_sin": centred(lambda x: x.fresnel_s(), lambda x: _half_turn(x).sin()),
    "fresnel_cos": centred(lambda x: x.fresnel_c(), lambda x: _half_turn(x).cos()),
    "sin_integral": centred(lambda x: x.si(), lambda x: x.sinc()),
    "cos_integral": centred(lambda x: x.ci(), lambda x: x.cos() / x),
    "expint": centred(lambda x: x.ei(), lambda x: x.exp() / x),
    "exp1": monotone(_exp1),
    "spence": centred(_spence, lambda x: x.log() / (1 - x)),
}

"""The error function and its relatives, and other integrals of elementary functions, on real balls."""

from __future__ import annotations

from flint import arb

from gradproof.domains.ball_precise import Kernel, centred


def _erfcx(x: arb) -> arb:
    return (x * x).exp() * x.erfc()


def _dawson(x: arb) -> arb:
    return (-x * x).exp() * x.erfi() * arb.const_sqrt_pi() / 2


def _ndtr(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _ndtri(p: arb) -> arb:
    return -arb(2).sqrt() * (2 * p).erfcinv()


def _log_ndtr(x: arb) -> arb:
    """On either side the logarithm of something that does not cancel."""
    tail = _ndtr(-x) if x.mid() > 0 else _ndtr(x)
    return (-tail).log1p() if x.mid() > 0 else tail.log()


def _density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _bell(x: arb) -> arb:
    return 2 * (-x * x).exp() / arb.const_sqrt_pi()


def _exp1(x: arb) -> arb:
    return x.expint(1)


def _half_turn(x: arb) -> arb:
    return arb.pi() * x * x / 2


KERNELS: dict[str, Kernel] = {
    "erf": centred(lambda x: x.erf(), _bell),
    "erfc": centred(lambda x: x.erfc(), _bell),
    "erfcx": centred(_erfcx, lambda x: 2 * x * _erfcx(x) - 2 / arb.const_sqrt_pi()),
    "erfinv": lambda x: x.erfinv(),
    "erfcinv": lambda x: x.erfcinv(),
    "dawson": centred(_dawson, lambda x: 1 - 2 * x * _dawson(x)),
    "ndtr": centred(_ndtr, _density),
    "ndtri": _ndtri,
    "log_ndtr": centred(_log_ndtr, lambda x: _density(x) / _ndtr(x)),
    "fresnel_sin": centred(lambda x: x.fresnel_s(), lambda x: _half_turn(x).sin()),
    "fresnel_cos": centred(lambda x: x.fresnel_c(), lambda x: _half_turn(x).cos()),
    "expint": centred(lambda x: x.ei(), lambda x: x.exp() / x),
    "exp1": centred(_exp1, lambda x: (-x).exp() / x),
    "spence": lambda x: (1 - x).polylog(2),
}

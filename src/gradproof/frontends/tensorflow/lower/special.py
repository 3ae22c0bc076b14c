"""Special functions and the backward ops that TensorFlow has for them."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.tensorflow.lower._table import lower, lower_to
from gradproof.ops.bessel import bessel_ie

for _op, _name in {
    "erf": "Erf", "erfc": "Erfc", "erfinv": "Erfinv", "ndtri": "Ndtri", "lgamma": "Lgamma", "digamma": "Digamma",
    "igamma": "Igamma", "igammac": "Igammac", "betainc": "Betainc", "zeta": "Zeta", "dawson": "Dawsn",
    "expint": "Expint", "spence": "Spence", "fresnel_sin": "FresnelSin", "fresnel_cos": "FresnelCos",
    "igamma_da": "IgammaGradA",
}.items():  # fmt: skip
    lower_to(_op, _name)


def _bessel(op: str, name: str, order: int) -> None:
    @lower(name)
    def bessel(m: Any, event: Any, x: Any) -> Any:
        return getattr(m, op)(x, order=order)


for _kind, _letter in {"bessel_i": "I", "bessel_j": "J", "bessel_k": "K", "bessel_y": "Y"}.items():
    for _order in (0, 1):
        _bessel(_kind, f"Bessel{_letter}{_order}", _order)
_bessel("bessel_k_scaled", "BesselK0e", 0)
_bessel("bessel_k_scaled", "BesselK1e", 1)


@lower("BesselI0e")
def _bessel_i0e(m: Any, event: Any, x: Any) -> Any:
    return bessel_ie(m, x, 0)


@lower("BesselI1e")
def _bessel_i1e(m: Any, event: Any, x: Any) -> Any:
    return bessel_ie(m, x, 1)


@lower("Polygamma")
def _polygamma(m: Any, event: Any, n: Any, x: Any) -> Any:
    # The order is a float in TensorFlow, but only natural numbers mean anything.
    return m.polygamma(n, x)

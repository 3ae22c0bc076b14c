"""Special functions and the backward ops that TensorFlow has for them."""

from __future__ import annotations

from gradproof.frontends.tensorflow.lower._table import lower_to

for _op, _name in {
    "erf": "Erf", "erfc": "Erfc", "erfinv": "Erfinv", "ndtri": "Ndtri", "lgamma": "Lgamma", "digamma": "Digamma",
    "igamma": "Igamma", "igammac": "Igammac", "betainc": "Betainc", "zeta": "Zeta", "dawson": "Dawsn",
    "expint": "Expint", "spence": "Spence", "fresnel_sin": "FresnelSin", "fresnel_cos": "FresnelCos",
    "bessel_i0": "BesselI0", "bessel_i1": "BesselI1", "bessel_i0e": "BesselI0e", "bessel_i1e": "BesselI1e",
    "bessel_j0": "BesselJ0", "bessel_j1": "BesselJ1", "bessel_y0": "BesselY0", "bessel_y1": "BesselY1",
    "bessel_k0": "BesselK0", "bessel_k1": "BesselK1", "bessel_k0e": "BesselK0e", "bessel_k1e": "BesselK1e",
    "igamma_da": "IgammaGradA", "polygamma": "Polygamma",
}.items():
    lower_to(_op, _name)


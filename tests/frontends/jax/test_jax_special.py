"""Special functions that JAX computes by fits and series: what they mean is the function, and so is the reference."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import mpmath
import numpy as np
import pytest
from jax_runs import judged

FUNCTIONS = {
    "ndtri": (special.ndtri, lambda p: -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p), (1e-6, 0.3, 0.9)),
    "exp1": (special.exp1, mpmath.e1, (0.25, 1.5, 30.0)),
    "expn": (lambda x: special.expn(3, x), lambda x: mpmath.expint(3, x), (0.25, 3.0)),
    "fresnel_sin": (lambda x: special.fresnel(x)[0], mpmath.fresnels, (0.1, 3.0)),
    "fresnel_cos": (lambda x: special.fresnel(x)[1], mpmath.fresnelc, (0.1, 2.25)),
    "sin_integral": (lambda x: special.sici(x)[0], mpmath.si, (3.0, 9.0)),
    "cos_integral": (lambda x: special.sici(x)[1], mpmath.ci, (3.0, 9.0)),
    "hyp1f1": (lambda x: special.hyp1f1(1.5, 2.5, x), lambda x: mpmath.hyp1f1(1.5, 2.5, x), (1.0,)),
    "hyp2f1": (lambda x: special.hyp2f1(0.5, 1.5, 2.5, x), lambda x: mpmath.hyp2f1(0.5, 1.5, 2.5, x), (0.5,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_reference_is_the_slope_of_the_function_and_not_of_its_fit(name):
    function, meant, points = FUNCTIONS[name]
    for point in points:
        x = jnp.float32(point)
        (report,) = judged(lambda x=x: jax.grad(function)(x))
        with mpmath.workdps(40):
            true = mpmath.diff(meant, mpmath.mpf(float(x)), h=mpmath.mpf(10) ** -12)
        assert report.verdict.value == "correct", (point, report.reason)
        assert np.isclose(float(report.reference), float(true), rtol=1e-12, atol=0.0), point


@pytest.mark.parametrize("point", [1.0, 3.0])  # where its slope is 0, and where a fit ends
def test_a_fit_has_no_kinks_and_no_slopes_that_the_function_has_not(point):
    for part in (0, 1):
        (report,) = judged(lambda part=part: jax.grad(lambda x: special.fresnel(x)[part])(jnp.float32(point)))
        assert (report.verdict.value, report.diagnostics) == ("correct", ())


def test_a_library_function_that_is_compiled_takes_plain_numbers():
    (report,) = judged(lambda: jax.grad(lambda x: special.hyp1f1(x, 2.5, 1.25))(jnp.float32(1.5)))
    assert report.verdict.value == "correct"

"""Gradients for integers that a program allows: JAX returns arrays of float0, and the report says so."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax_runs import judged


def loss(n, w):
    return jnp.sum(n * w**2)


def asked():
    w = jnp.array([0.5, 1.5])
    return jax.grad(loss, argnums=(0, 1), allow_int=True)(jnp.array([1, 2]), w)


def test_what_is_returned_for_integers_holds_no_numbers():
    first, second = judged(asked)
    assert (first.verdict.value, second.verdict.value) == ("missing", "correct")
    (error,) = first.diagnostics
    assert error.headline == "the gradient for `n` holds no numbers because `n` holds int32, not real numbers"
    assert "JAX returns an array of dtype float0" in error.why
    assert error.evidence == (("JAX", "float0, no numbers"),)  # the slope of the formula is not zero


def test_only_the_numbers_of_the_array_get_a_decimal_point():
    (error,) = judged(asked)[0].diagnostics
    changed = next(line for line in error.fix.patch.splitlines() if line.startswith("+") and "grad" in line)
    assert "argnums=(0, 1), allow_int=True)(jnp.array([1.0, 2.0]), w)" in changed

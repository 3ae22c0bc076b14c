"""Jacobians and directional derivatives of complex functions, in both modes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax_runs import judged

Z = jnp.array([0.3 + 0.4j, -1.1 + 0.2j, 0.7 - 0.9j])
X = jnp.array([0.3, -1.1, 0.7])
A = jnp.array([[1.0 + 1j, 0.5, 0.2j], [0.1, 2.0 - 1j, 0.4]])


def wave(z):
    return jnp.exp(1j * (A @ z)) * jnp.sum(z**2)


@jax.custom_jvp
def wrong(z):
    return z**2


wrong.defjvps(lambda t, y, z: 2 * jnp.conj(z) * t)

USES = {
    "jacrev": lambda: jax.jacrev(wave, holomorphic=True)(Z),
    "jacfwd": lambda: jax.jacfwd(wave, holomorphic=True)(Z),
    "compiled": lambda: jax.jit(jax.jacrev(wave, holomorphic=True))(Z),
    "compiled forward": lambda: jax.jit(jax.jacfwd(wave, holomorphic=True))(Z),
    "grad": lambda: jax.grad(lambda z: jnp.sum(wave(z)), holomorphic=True)(Z),
    "compiled grad": lambda: jax.jit(jax.grad(lambda z: jnp.sum(jnp.abs(wave(z)) ** 2)))(Z),
    "an argument without part in it": lambda: jax.grad(lambda z, w: jnp.sum(jnp.abs(z) ** 2), (0, 1))(
        Z, Z + 1
    ),
    "an argument times zero": lambda: jax.grad(lambda z, w: jnp.sum(jnp.real(z + 0 * w)), (0, 1))(Z, Z + 1),
    "real to complex": lambda: jax.jacfwd(wave)(X),
    "jvp": lambda: jax.jvp(wave, (Z,), (Z * 1j,)),
    "jvp of conjugates": lambda: jax.jvp(lambda z: jnp.conj(z) * jnp.abs(z), (Z,), (Z * 1j + 1,)),
    "linearize": lambda: jax.linearize(wave, Z)[1](Z + 1j),
    "vjp": lambda: jax.vjp(wave, Z)[1](jnp.array([1j, 2.0 + 1j])),
}


@pytest.mark.parametrize("name", USES)
def test_derivatives_of_complex_functions_are_proven(name):
    reports = judged(USES[name])
    assert reports
    assert {(one.verdict.value, one.oracle, one.reason) for one in reports} == {("correct", "ball", None)}


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_a_wrong_rule_is_seen_in_both_modes(mode):
    reports = judged(lambda: mode(wrong, holomorphic=True)(Z))
    assert "wrong" in {one.verdict.value for one in reports}
    assert {cause.kind for one in reports for cause in one.diagnostics} == {"custom-gradient"}

import jax
import jax.numpy as jnp

params = {"w": jnp.ones(2), "n": jnp.array([1, 2])}


def f(p):
    return jnp.sum(p["w"] * p["n"])


g = jax.value_and_grad(f)(params)  # ~ integer-dtype
# verdicts: missing, missing

import jax
import jax.numpy as jnp


def f(x):
    return (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(x) + jnp.exp(-x))  # ~ overflow


g = jax.grad(f)(jnp.float32(100.0))
# verdicts: nonfinite

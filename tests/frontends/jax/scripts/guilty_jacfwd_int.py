import jax
import jax.numpy as jnp


def f(x):
    return x * 2.0


g = jax.jacfwd(f)(jnp.arange(3))  # ~ integer-dtype
# verdicts: missing

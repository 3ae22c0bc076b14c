import jax
import jax.numpy as jnp


def root(x):
    return jnp.where(x > 0, jnp.sqrt(jnp.abs(x)), jnp.nan)  # ~ invalid-domain


g = jax.grad(root)(-1.0)
h = jax.grad(root)(1.0)
# verdicts: undefined, correct

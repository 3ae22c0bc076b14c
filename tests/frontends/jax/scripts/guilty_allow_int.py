import jax
import jax.numpy as jnp


def f(n):
    return jnp.sum(n * 2.0)


g = jax.grad(f, allow_int=True)(jnp.arange(3))  # ~ integer-dtype
# verdicts: missing

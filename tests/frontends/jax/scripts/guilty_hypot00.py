import jax
import jax.numpy as jnp


def f(p):
    return jnp.hypot(p[0], p[1])  # ~ singular-point


g = jax.grad(f)(jnp.zeros(2))
# verdicts: undefined

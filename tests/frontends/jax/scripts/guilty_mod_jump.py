import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(jnp.mod(x, 2.0))  # ~ jump


g = jax.grad(f)(jnp.array([2.0, 3.5]))
# verdicts: undefined

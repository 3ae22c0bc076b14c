import jax
import jax.numpy as jnp


def f(x):
    return jnp.max(x)  # ~ kink


g = jax.grad(f)(jnp.array([2.0, 2.0, 1.0]))
# verdicts: undefined

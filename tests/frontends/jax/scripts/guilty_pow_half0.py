import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(x**0.5)  # ~ singular-point


g = jax.grad(f)(jnp.array([0.0, 4.0]))
# verdicts: undefined

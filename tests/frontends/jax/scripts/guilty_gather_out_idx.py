import jax
import jax.numpy as jnp

idx = jnp.array([0, 2, 7])


def f(x):
    return jnp.sum(x[idx] ** 2)  # ~ framework-rule


g = jax.grad(f)(jnp.array([1.0, 2.0, 3.0]))
# verdicts: wrong

import jax
import jax.numpy as jnp

idx = jnp.array([0, -1])


def f(x):
    return jnp.sum(x[idx] ** 2)


g = jax.grad(f)(jnp.array([1.0, 2.0, 3.0]))
# verdicts: correct

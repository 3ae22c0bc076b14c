import jax
import jax.numpy as jnp


def f(x, y):
    safe = jnp.where(y == 0, 1.0, y)
    return jnp.sum(jnp.where(y == 0, 0.0, x / safe))


g = jax.grad(f)(jnp.array([1.0, 2.0]), jnp.array([0.0, 4.0]))
# verdicts: correct

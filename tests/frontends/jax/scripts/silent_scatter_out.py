import jax
import jax.numpy as jnp


def f(x):
    y = jnp.zeros(3).at[jnp.array([1, 5])].set(x)
    return jnp.sum(y**2)


g = jax.grad(f)(jnp.array([2.0, 3.0]))
# verdicts: correct

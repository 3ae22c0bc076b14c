import jax
import jax.numpy as jnp


def f(x):
    y = jnp.zeros(4).at[jnp.array([1, 3])].set(x)
    return jnp.sum(y**2 * jnp.arange(4.0))


g = jax.grad(f)(jnp.array([2.0, 3.0]))
# verdicts: correct

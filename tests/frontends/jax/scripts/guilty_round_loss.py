import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(jnp.round(x * 3.0) ** 2)  # ~ discrete-op


g = jax.grad(f)(jnp.array([0.4, 1.2]))
# verdicts: correct

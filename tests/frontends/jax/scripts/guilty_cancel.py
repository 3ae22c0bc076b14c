import jax
import jax.numpy as jnp


def f(x):
    return (1.0 - jnp.cos(x)) / x**2  # ~ cancellation


g = jax.grad(f)(jnp.float32(1e-3))
# verdicts: inaccurate

import jax
import jax.numpy as jnp


def root(b):
    return (-b + jnp.sqrt(b * b - 4e-3)) / 2.0  # ~ cancellation


g = jax.grad(root)(jnp.float32(200.0))
# verdicts: inaccurate

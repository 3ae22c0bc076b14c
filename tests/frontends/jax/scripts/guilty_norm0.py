import jax
import jax.numpy as jnp


def loss(x):
    return jnp.linalg.norm(x)  # ~ singular-point


g = jax.grad(loss)(jnp.zeros(3))
# verdicts: undefined

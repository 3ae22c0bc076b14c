import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

flat, unravel = ravel_pytree({"w": jnp.full((2, 2), 0.3), "b": jnp.array([0.1, -0.1])})


def loss(v):
    q = unravel(v)
    return jnp.sum(jnp.sin(q["w"] @ q["b"]) ** 2)  # ~ cancellation


jax.hessian(loss)(flat)
# verdicts: inaccurate, correct

import jax
import jax.numpy as jnp

w = jnp.array([1.0, 2.0])


def loss(x):
    return jnp.sum(w * x)


g = jax.grad(loss)(w)
# verdicts: correct

"""An index past the end, and no error: JAX reads the last row instead.

Labels that count from 1 point one row too far. Where NumPy raises, JAX takes the nearest row for the value and
drops what would go back to the missing one, so that training goes on with a loss that means something else.
"""

import jax
import jax.numpy as jnp

rows = jnp.array([[0.2, -0.1], [0.5, 0.3], [-0.4, 0.8]])
labels = jnp.array([1, 3, 2])


def loss(rows):
    return jnp.sum(rows[labels] ** 2)


print("loss    ", loss(rows))
print("gradient", jax.grad(loss)(rows))

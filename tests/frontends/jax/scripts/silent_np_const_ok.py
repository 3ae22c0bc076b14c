import jax
import jax.numpy as jnp
import numpy as np

mean = np.array([0.5, 1.5])


def loss(x):
    return jnp.sum((x - mean) ** 2) / np.sqrt(2.0) * float(mean[0])


g = jax.grad(loss)(jnp.array([1.0, 2.0]))
# verdicts: correct

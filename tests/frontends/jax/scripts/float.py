import math

import jax
import jax.numpy as jnp


def energy(theta):
    return jnp.cos(theta) * math.exp(float(theta))  # ~ left-framework


g = jax.grad(energy)(0.5)
print(g)
# verdicts: missing

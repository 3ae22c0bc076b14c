import math

import jax
import jax.numpy as jnp


@jax.jit
def f(w):
    return math.exp(w) * 2.0  # ~ left-framework


g = jax.grad(f)(jnp.float32(1.0))
# verdicts: missing

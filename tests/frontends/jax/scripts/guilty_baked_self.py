from functools import partial

import jax
import jax.numpy as jnp


class Loss:
    def __init__(self):
        self.beta = 1.0

    @partial(jax.jit, static_argnums=0)
    def grad(self, w):
        return jax.grad(lambda v: self.beta * jnp.sum(v**2))(w)  # ~ baked-constant


layer = Loss()
w = jnp.array([1.0, 2.0])
a = layer.grad(w)
layer.beta = 4.0
b = layer.grad(w)
# verdicts: correct, correct

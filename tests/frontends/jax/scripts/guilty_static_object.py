from functools import partial

import jax
import jax.numpy as jnp


class Model:
    def __init__(self, scale):
        self.scale = scale

    @partial(jax.jit, static_argnums=0)
    def loss(self, w):
        return self.scale * jnp.sum(w**2)  # ~ baked-constant


model = Model(1.5)
gradient = jax.grad(model.loss)
w = jnp.array([1.0, 2.0])
print(gradient(w))
model.scale = 10.0
print(gradient(w))
# verdicts: correct, correct

from functools import partial

import jax
import jax.numpy as jnp


class Model:
    def __init__(self, scale):
        self.scale = scale

    @partial(jax.jit, static_argnums=0)
    def loss(self, w):
        return self.scale * jnp.sum(w**2)


w = jnp.array([1.0, 2.0])
for scale in (1.5, 10.0):
    print(jax.grad(Model(scale).loss)(w))
# verdicts: correct, correct

from functools import partial

import jax
import jax.numpy as jnp


class Model:
    def __init__(self, scale):
        self.scale = scale

    @partial(jax.jit, static_argnums=0)
    def grad(self, x):
        return jax.grad(lambda v: self.scale * jnp.sum(v**2))(x)  # ~ baked-constant


m = Model(1.0)
x = jnp.array([1.0, 2.0])
print(m.grad(x))
m.scale = 10.0
print(m.grad(x))
# verdicts: correct, correct

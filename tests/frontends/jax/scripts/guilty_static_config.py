from functools import partial

import jax
import jax.numpy as jnp


class Config:
    def __init__(self, scale):
        self.scale = scale


config = Config(1.5)
w = jnp.array([1.0, 2.0])
gradient = jax.jit(jax.grad(lambda w, c: c.scale * jnp.sum(w**2)), static_argnums=1)  # ~ baked-constant
print(gradient(w, config))


@partial(jax.jit, static_argnames="c")
def loss(w, c):
    return c.scale * jnp.sum(w**2)  # ~ baked-constant


print(jax.grad(loss)(w, c=config))
config.scale = 10.0
print(gradient(w, config), jax.grad(loss)(w, c=config))
# verdicts: correct, correct, correct, correct

import jax
import jax.numpy as jnp
import numpy as np

table = np.array([1.0, 2.0, 3.0])


@jax.jit
def step(w):
    return jax.grad(lambda v: jnp.sum(table * v**2))(w)  # ~ baked-constant


w = jnp.ones(3)
a = step(w)
table[:] = 10.0
b = step(w)
# verdicts: correct, correct

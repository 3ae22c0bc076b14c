from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def step(w, x):
    value, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
    return w - 0.1 * g, value


w = jnp.zeros(3)
x = jnp.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
for _ in range(3):
    w, value = step(w, x)
# verdicts: correct, correct

import jax
import jax.numpy as jnp

table = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
ids = jnp.array([0, 2, 3])


def loss(t):
    return jnp.sum(t[ids] ** 2)  # ~ framework-rule


g = jax.grad(loss)(table)
print(loss(table), g)
# verdicts: wrong

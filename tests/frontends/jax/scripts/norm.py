import jax
import jax.numpy as jnp


def dist(x, y):
    return jnp.linalg.norm(x - y)  # ~ singular-point


x = jnp.array([1.0, 2.0])
print(jax.grad(dist)(x, x))
# verdicts: undefined

import jax
import jax.numpy as jnp


def angle(a, b):
    c = jnp.dot(a, b) / (jnp.sqrt(a @ a) * jnp.sqrt(b @ b))
    return jnp.arccos(c)  # ~ singular-point


a = jnp.array([1.0, 0.0])
print(jax.grad(angle)(a, 2 * a))
# verdicts: undefined

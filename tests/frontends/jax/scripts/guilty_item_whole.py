import jax
import jax.numpy as jnp


def loss(x, y):
    s = jnp.sum(x**2).item()  # ~ left-framework
    return jnp.sqrt(s) * y


g = jax.grad(loss, (0, 1))(jnp.array([3.0, 4.0]), 2.0)
# verdicts: wrong, correct

import jax
import jax.numpy as jnp


def f(x, y):
    return jnp.sum(jnp.where(y == 0, 0.0, x / y))  # ~ masked-branch


gx, gy = jax.grad(f, argnums=(0, 1))(jnp.array([1.0, 2.0]), jnp.array([0.0, 4.0]))
# verdicts: nonfinite, undefined

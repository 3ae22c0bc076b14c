import jax
import jax.numpy as jnp


def huber(r, d=1.0):
    a = jnp.abs(r)
    return jnp.where(a <= d, 0.5 * r**2, d * (a - 0.5 * d))


g = jax.grad(lambda r: jnp.sum(huber(r)))(jnp.array([0.0, 1.0, 3.0, -0.4]))
# verdicts: correct

import jax
import jax.numpy as jnp


def loss(x):
    return jnp.log(jnp.sum(jnp.exp(x)))  # ~ overflow


g = jax.grad(loss)(jnp.array([100.0, 1.0, 2.0]))
# verdicts: nonfinite

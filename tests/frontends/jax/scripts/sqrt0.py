import jax
import jax.numpy as jnp


def std(x):
    return jnp.sqrt(jnp.mean((x - jnp.mean(x)) ** 2))  # ~ singular-point


print(jax.grad(std)(jnp.full((4,), 2.0)))
# verdicts: undefined

import jax
import jax.numpy as jnp

ids = jnp.array([0, 0, 2])


def f(x):
    return jnp.sum(jax.ops.segment_sum(x, ids, 3) ** 2)


g = jax.grad(f)(jnp.array([2.0, 3.0, 4.0]))
# verdicts: correct

import jax
import jax.numpy as jnp

ids = jnp.array([0, 0, 1, 0])


def f(x):
    return jnp.sum(jax.ops.segment_max(x, ids, 2) ** 2)


g = jax.grad(f)(jnp.array([2.0, 3.0, 4.0, 1.0]))
# verdicts: correct

import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(jax.lax.dynamic_slice(x, (3,), (3,)) ** 2)


g = jax.grad(f)(jnp.array([1.0, 2.0, 3.0, 4.0]))
# verdicts: correct

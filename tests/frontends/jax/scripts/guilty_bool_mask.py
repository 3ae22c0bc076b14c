import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return jnp.sum(x[x > 0] ** 2)  # ~ left-framework


g = jax.grad(f)(jnp.array([1.0, -2.0]))
# verdicts: missing

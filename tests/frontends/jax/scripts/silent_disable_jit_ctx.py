import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return jnp.sum(x**3)


with jax.disable_jit():
    g = jax.grad(f)(jnp.array([1.0, 2.0]))
# verdicts: correct

import jax
import jax.numpy as jnp


def f(x):
    return jnp.logaddexp(x, -jnp.inf)


g = jax.grad(f)(jnp.float32(1.0))
# verdicts: correct

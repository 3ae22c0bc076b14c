import jax
import jax.numpy as jnp


def f(w):
    p = jax.nn.sigmoid(w)
    return -jnp.mean(jnp.log(1.0 - p))  # ~ cancellation


g = jax.grad(f)(jnp.array([30.0, 1.0]))
# verdicts: nonfinite

import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(jnp.floor(x * 4.0) / 4.0)  # ~ discrete-op


print(jax.grad(f)(jnp.array([0.3, 0.7])))
# verdicts: correct

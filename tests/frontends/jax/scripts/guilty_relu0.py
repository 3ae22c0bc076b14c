import jax
import jax.numpy as jnp


def f(w):
    return jnp.sum(jax.nn.relu(w))  # ~ kink


g = jax.grad(f)(jnp.array([0.0, 1.0]))
# verdicts: undefined

import jax
import jax.numpy as jnp


def loss(x):
    return jax.nn.logsumexp(x)


g = jax.grad(loss)(jnp.array([100.0, 1.0, 2.0]))
# verdicts: correct

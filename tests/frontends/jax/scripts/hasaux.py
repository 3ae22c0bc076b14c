import jax
import jax.numpy as jnp


def loss(w):
    pred = w * 2.0
    return jnp.sum(pred**2), pred


g = jax.grad(loss)(jnp.ones(3))
print(g)
# verdicts: missing

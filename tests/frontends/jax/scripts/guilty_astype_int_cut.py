import jax
import jax.numpy as jnp


def loss(w):
    k = (w * 4.0).astype(jnp.int32).astype(jnp.float32)  # ~ discrete-op
    return jnp.sum(k**2)


g = jax.grad(loss)(jnp.array([0.1, 0.9]))
# verdicts: correct

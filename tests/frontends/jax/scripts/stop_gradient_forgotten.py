import jax
import jax.numpy as jnp


def td_loss(w, s, s2, r):
    v = w @ s
    v2 = jax.lax.stop_gradient(w @ s2)
    return (r + 0.9 * v2 - v) ** 2


w = jnp.array([0.5, -0.25])
print(jax.grad(td_loss)(w, jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]), 1.0))
# verdicts: correct

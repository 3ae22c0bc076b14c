import jax
import jax.numpy as jnp

w0 = jnp.array([0.1, 0.2])


def td(w, s, s2, r):
    target = r + 0.9 * jax.lax.stop_gradient(jnp.dot(w, s2))
    return (jnp.dot(w, s) - target) ** 2


g = jax.grad(td)(w0, jnp.array([1.0, 0.5]), jnp.array([0.3, 0.7]), 1.0)
# verdicts: correct

import jax
import jax.numpy as jnp


def energy(p):
    i, j = jnp.triu_indices(3, 1)
    r = jnp.linalg.norm(p[i] - p[j], axis=-1)
    return jnp.sum(1.0 / r)


g = jax.grad(energy)(jnp.array([[0.0, 0.0], [1.0, 0.5], [0.3, 2.0]]))
# verdicts: correct

import jax
import jax.numpy as jnp


def energy(p):
    d = p[:, None] - p[None, :]
    r2 = jnp.sum(d**2, -1)
    return jnp.sum(jnp.where(jnp.eye(2, dtype=bool), 0.0, 1.0 / jnp.sqrt(r2)))  # ~ masked-branch


g = jax.grad(energy)(jnp.array([[0.0, 0.0], [1.0, 0.5]]))
# verdicts: nonfinite

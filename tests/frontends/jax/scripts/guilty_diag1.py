import jax
import jax.numpy as jnp


def energy(p):
    d = p[:, None] - p[None, :]
    r = jnp.sqrt(jnp.sum(d**2, -1))
    return jnp.sum(jnp.where(r > 0, 1.0 / r, 0.0))  # ~ masked-branch


g = jax.grad(energy)(jnp.array([[0.0, 0.0], [1.0, 0.5]]))
# verdicts: nonfinite

import jax
import jax.numpy as jnp

g = jax.grad(lambda x: jnp.sum(jnp.sqrt(x**2 + 1e-12)))(jnp.array([0.0, 1e-3]))
# verdicts: correct

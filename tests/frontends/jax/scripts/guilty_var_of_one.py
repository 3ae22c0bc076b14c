import jax
import jax.numpy as jnp

g = jax.grad(lambda v: jnp.sum(jnp.std(v, axis=1, ddof=1)))(jnp.array([[3.0], [2.0]]))  # ~ invalid-domain
# verdicts: undefined

import jax
import jax.numpy as jnp

f = lambda x: jnp.where(x > 1.0, jnp.sqrt(x), 2.0 * x)  # ~ masked-branch
g = jax.vmap(jax.jit(jax.grad(f)))(jnp.array([0.0, 1.5, 4.2]))
# verdicts: nonfinite

import jax
import jax.numpy as jnp

g = jax.grad(lambda x: jnp.sum(jax.nn.elu(x)))(jnp.array([0.0, 1.0]))
# verdicts: correct

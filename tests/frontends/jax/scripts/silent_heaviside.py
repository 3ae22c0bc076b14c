import jax
import jax.numpy as jnp

g = jax.grad(lambda x: jnp.sum(jnp.heaviside(x, 0.5) * x))(jnp.array([1.0, -2.0]))
# verdicts: correct

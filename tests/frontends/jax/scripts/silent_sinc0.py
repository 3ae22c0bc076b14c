import jax
import jax.numpy as jnp

g = jax.grad(jnp.sinc)(0.0)
# verdicts: correct

import jax
import jax.numpy as jnp

f = lambda x: jnp.sum(x**3)
x = jnp.array([1.0, 2.0])
y, lin = jax.linearize(f, x)
x = x * 2.0
t = lin(jnp.ones(2))
# verdicts: correct

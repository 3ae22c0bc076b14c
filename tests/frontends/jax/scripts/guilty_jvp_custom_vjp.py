import jax
import jax.numpy as jnp


@jax.custom_vjp
def sq(x):
    return x**2


sq.defvjp(lambda x: (sq(x), x), lambda x, g: (2 * x * g,))
t = jax.jvp(sq, (jnp.float32(2.0),), (jnp.float32(1.0),))  # ~ no-gradient-registered
# verdicts: missing

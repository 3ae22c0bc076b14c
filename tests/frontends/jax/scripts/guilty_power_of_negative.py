# (-2)**p is a real number for whole p only: there is a slope for the base, and none for the exponent.
import jax
import jax.numpy as jnp


def power(x, p):
    return x**p  # ~ invalid-domain


x, p = jnp.float32(-2.0), jnp.float32(3.0)
print(jax.grad(power, argnums=(0, 1))(x, p))
# verdicts: correct, undefined

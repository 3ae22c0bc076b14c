import jax
import jax.numpy as jnp


def nearest(x):
    return x[jnp.argmin(x)] ** 2  # ~ kink


print(jax.grad(nearest)(jnp.array([1.0, 1.0, 3.0])))
print(jax.grad(nearest)(jnp.array([1.0, 2.0, 3.0])))
# verdicts: undefined, correct

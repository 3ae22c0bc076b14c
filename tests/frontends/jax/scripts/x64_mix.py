import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp


def f(x):
    y = x.astype(jnp.float32)
    return jnp.sum((y * 1e4 + 1.0) - y * 1e4) + jnp.sum(jnp.sin(y))  # ~ cancellation


print(jax.grad(f)(jnp.array([0.123456789, 1.0])))
# verdicts: inaccurate

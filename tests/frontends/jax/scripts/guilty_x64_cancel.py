import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def f(x):
    return jnp.log(1.0 + x) / x  # ~ cancellation


g = jax.grad(f)(1e-9)
# verdicts: inaccurate

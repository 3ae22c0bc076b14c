import jax
import jax.numpy as jnp

jax.config.update("jax_debug_nans", True)


def f(x):
    return jnp.where(x > 0, jnp.log(x), 0.0)  # ~ masked-branch


print(jax.grad(f)(0.0))
# verdicts: undefined

import jax
import jax.numpy as jnp
import numpy as np


def host(x):
    return np.sin(x)


def f(x):
    y = jax.pure_callback(host, jax.ShapeDtypeStruct((), jnp.float32), x)  # ~ no-gradient-registered
    return y * 2.0


g = jax.grad(f)(jnp.float32(0.3))
# verdicts: missing

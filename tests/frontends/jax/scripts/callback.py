import jax
import jax.numpy as jnp
import numpy as np


def host(x):
    return np.sin(x)


def f(x):
    y = jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # ~ no-gradient-registered
    return jnp.sum(y)


print(jax.grad(f)(jnp.array([0.3, 0.4])))
# verdicts: missing

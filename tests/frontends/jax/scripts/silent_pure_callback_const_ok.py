import jax
import jax.numpy as jnp
import numpy as np


def f(x):
    s = jax.pure_callback(lambda: np.float32(2.0), jax.ShapeDtypeStruct((), jnp.float32))
    return s * x**2


g = jax.jit(jax.grad(f))(jnp.float32(0.3))
# verdicts: correct

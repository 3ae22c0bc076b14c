import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def sine(x):
    return jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


sine.defvjp(lambda x: (sine(x), x), lambda x, g: (g * jnp.cos(x),))
print(jax.grad(lambda x: jnp.sum(sine(x) ** 2))(jnp.array([0.1, 0.2])))
# verdicts: correct

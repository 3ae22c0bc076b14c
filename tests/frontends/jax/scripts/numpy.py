import jax
import jax.numpy as jnp
import numpy as np


def f(x):
    y = np.sin(x)  # ~ left-framework
    return jnp.sum(y * x)


print(jax.grad(f)(jnp.array([0.1, 0.2])))
# verdicts: missing

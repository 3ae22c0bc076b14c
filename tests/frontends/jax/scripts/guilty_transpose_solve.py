# A solver by hand whose transposed solve multiplies where it has to divide.
import jax
import jax.numpy as jnp


def damped(b, scale=4.0):
    return jax.lax.custom_linear_solve(  # ~ framework-rule
        lambda x: scale * x, b, lambda _, b: b / scale, lambda _, b: b * scale
    )


print(jax.grad(damped)(jnp.float32(2.0)))
# verdicts: wrong

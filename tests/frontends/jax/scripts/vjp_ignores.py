import jax
import jax.numpy as jnp


@jax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, g: (3.0 * x**2,))  # ~ custom-gradient
print(jax.grad(lambda x: 0.5 * jnp.sum(cube(x)))(jnp.array([1.0, 2.0])))
# verdicts: wrong

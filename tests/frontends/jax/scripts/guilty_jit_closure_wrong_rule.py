import jax
import jax.numpy as jnp


@jax.custom_vjp
def square(x):
    return x**2


square.defvjp(lambda x: (x**2, x), lambda x, g: (3 * x * g,))  # ~ custom-gradient


@jax.jit
def step(a):
    b = jnp.exp(a)
    return jax.grad(lambda t: square(t) * b)(a)


print(step(jnp.float32(0.5)))
# verdicts: wrong

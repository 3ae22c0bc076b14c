import jax
import jax.numpy as jnp


@jax.custom_vjp
def product(x, y):
    return jnp.sin(x) * y


def bwd(res, g):
    x, y = res
    return g * jnp.cos(x) * y, -g * jnp.sin(x)  # ~ custom-gradient


product.defvjp(lambda x, y: (product(x, y), (x, y)), bwd)
print(jax.grad(lambda a: product(a, a))(jnp.float32(1.2)))
# verdicts: wrong

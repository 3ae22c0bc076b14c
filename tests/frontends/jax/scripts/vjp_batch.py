import jax
import jax.numpy as jnp


@jax.custom_vjp
def add_bias(x, b):
    return x + b


def fwd(x, b):
    return x + b, x.shape[0]


def bwd(n, g):
    return g, jnp.mean(g, axis=0)  # ~ custom-gradient


add_bias.defvjp(fwd, bwd)
x = jnp.ones((4, 3))
b = jnp.array([0.1, 0.2, 0.3])
gb = jax.grad(lambda b: jnp.sum(add_bias(x, b) ** 2))(b)
print(gb)
# verdicts: wrong

import jax
import jax.numpy as jnp


@jax.custom_vjp
def sq(x):
    return x * x


def bwd(x, g):
    return (x * g,)  # ~ custom-gradient


sq.defvjp(lambda x: (sq(x), x), bwd)
g = jax.vmap(jax.jit(jax.grad(lambda x: sq(x) ** 2)))(jnp.array([0.5, 1.5, 4.2]))
# verdicts: wrong

import jax
import jax.numpy as jnp


@jax.custom_vjp
def normalise(x):
    return x / jnp.sqrt(jnp.sum(x**2))


def fwd(x):
    n = jnp.sqrt(jnp.sum(x**2))
    return x / n, n


def bwd(n, g):
    return (g / n,)  # ~ custom-gradient


normalise.defvjp(fwd, bwd)
target = jnp.array([0.0, 1.0])
g = jax.grad(lambda x: jnp.sum((normalise(x) - target) ** 2))(jnp.array([3.0, 4.0]))
print(g)
# verdicts: wrong

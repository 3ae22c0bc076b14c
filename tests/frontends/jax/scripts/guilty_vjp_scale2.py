import jax
import jax.numpy as jnp


@jax.custom_vjp
def sq(x):
    return x * x


def fwd(x):
    return sq(x), x


def bwd(x, g):
    return (x * g,)  # ~ custom-gradient


sq.defvjp(fwd, bwd)


@jax.jit
def train(w):
    return w - 0.1 * jax.grad(lambda v: jnp.sum(sq(v)))(w)


w = train(jnp.array([1.0, 2.0]))
# verdicts: wrong

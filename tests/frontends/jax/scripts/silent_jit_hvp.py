import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(x))


@jax.jit
def hvp(x, v):
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


h = hvp(jnp.array([0.5, 1.2]), jnp.array([1.0, -1.0]))
# verdicts: correct, correct

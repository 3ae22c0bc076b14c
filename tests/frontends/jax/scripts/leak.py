import jax
import jax.numpy as jnp

history = []


def loss(w):
    r = jnp.sum((w - 1.0) ** 2)
    history.append(r)
    return r


w = jnp.zeros(3)
g = jax.jit(jax.grad(loss))(w)
print(g)
total = history[0] + 1.0
print(total)
# verdicts: correct

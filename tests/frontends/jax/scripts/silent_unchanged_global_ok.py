import jax
import jax.numpy as jnp

lr = 0.1


@jax.jit
def step(w):
    return w - lr * jax.grad(lambda v: jnp.sum((v - 1.0) ** 2))(w)


w = jnp.zeros(3)
for _ in range(3):
    w = step(w)
# verdicts: correct, correct

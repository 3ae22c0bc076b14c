import jax
import jax.numpy as jnp

lr = 0.1


@jax.jit
def step(w):
    g = jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w)
    return w - lr * g  # ~ baked-constant


w = jnp.zeros(2)
w = step(w)
lr = 0.01
w = step(w)
print(w)
# verdicts: correct, correct

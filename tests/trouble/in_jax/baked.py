import jax
import jax.numpy as jnp

scale = 1.0
w = jnp.array([1.0, -2.0])


@jax.jit
def loss_fn(w):
    return scale * jnp.sum((w - 0.5) ** 2)


for step in range(3):
    g = jax.grad(loss_fn)(w)
    w = w - 0.1 * g
    scale = scale / 2
    print(step, g)

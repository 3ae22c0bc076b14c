import jax
import jax.numpy as jnp

w = jnp.array([1, 2])
x = jnp.array([3.0, -1.0])


def loss_fn(w):
    return jnp.sum(w * x) ** 2


print(jax.grad(loss_fn)(w))

import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 1.0, 5)[:, None]
y = jnp.linspace(0.0, 2.0, 5)


def loss(w):
    pred = x @ w
    return jnp.mean((pred - y) ** 2)  # ~ silent-broadcast


print(jax.grad(loss)(jnp.array([[0.5]])))
# verdicts: correct

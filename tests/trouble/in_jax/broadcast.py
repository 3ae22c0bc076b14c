import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.PRNGKey(6), (32, 3))
y = x @ jnp.array([1.0, -2.0, 0.5])
params = {"w": jnp.ones((3, 1)), "b": jnp.zeros(1)}


def loss_fn(params):
    prediction = x @ params["w"] + params["b"]
    return jnp.mean((prediction - y) ** 2)


print(jax.grad(loss_fn)(params))

import jax
import jax.numpy as jnp

w = jax.random.uniform(jax.random.PRNGKey(2), (3, 1))
x = jax.random.normal(jax.random.PRNGKey(3), (8, 3))
y = jnp.array([0.0, 1.5] * 4)[:, None]


def loss_fn(w):
    y_pred = jax.nn.relu(x @ w)
    ratio = jnp.where(y > 0, y_pred / y, 0.0)
    size = jnp.where(y_pred > 0, jnp.log(y_pred), 0.0)
    return jnp.mean((ratio - 1.0) ** 2 + 0.1 * size**2)


for epoch in range(1):
    g = jax.grad(loss_fn)(w)
    w = w - 0.01 * g
    print(epoch, g.ravel())

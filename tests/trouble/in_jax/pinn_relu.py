import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(1), 3)
params = {
    "w1": jax.random.normal(keys[0], (1, 16)),
    "w2": jax.random.normal(keys[1], (16, 16)) * 0.3,
    "w3": jax.random.normal(keys[2], (16, 1)) * 0.3,
}
x = jnp.linspace(0.05, 0.95, 10)


def net(params, x):
    h = jax.nn.relu(x.reshape(1) @ params["w1"])
    h = jax.nn.relu(h @ params["w2"])
    return (h @ params["w3"])[0]


def loss_fn(params):
    u_xx = jax.vmap(jax.grad(jax.grad(net, argnums=1), argnums=1), (None, 0))(params, x)
    return jnp.mean((u_xx + jnp.sin(x)) ** 2)


grads = jax.grad(loss_fn)(params)
print({name: float(jnp.linalg.norm(g)) for name, g in grads.items()})

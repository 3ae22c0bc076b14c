import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(4), 4)
params = {"w1": jax.random.normal(keys[0], (8, 32)) * 0.3, "w2": jax.random.normal(keys[1], (32, 1)) * 0.2}
x = jax.random.normal(keys[2], (64, 8)) * 1e-3
y = jax.random.normal(keys[3], (64, 1)) * 1e-4


def loss_fn(params):
    w1, w2 = params["w1"].astype(jnp.float16), params["w2"].astype(jnp.float16)
    h = jax.nn.relu(x.astype(jnp.float16) @ w1)
    error = h @ w2 - y.astype(jnp.float16)
    return jnp.mean(error.astype(jnp.float32) ** 2)


for step in range(2):
    grads = jax.grad(loss_fn)(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    print(step, {name: float(jnp.max(jnp.abs(g))) for name, g in grads.items()})

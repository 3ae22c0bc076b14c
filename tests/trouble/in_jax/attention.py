import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(5), 4)
params = {name: jax.random.normal(key, (8, 8)) * 3.0 for name, key in zip(("wq", "wk", "wv"), keys)}
x = jax.random.normal(keys[3], (6, 8))


def softmax(scores):
    e = jnp.exp(scores)
    return e / jnp.sum(e, axis=-1, keepdims=True)


def loss_fn(params):
    q, k, v = x @ params["wq"], x @ params["wk"], x @ params["wv"]
    weights = softmax(q @ k.T)
    return jnp.mean((weights @ v) ** 2)


grads = jax.grad(loss_fn)(params)
print({name: float(jnp.linalg.norm(g)) for name, g in grads.items()})

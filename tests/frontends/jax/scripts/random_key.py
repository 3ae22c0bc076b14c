import jax
import jax.numpy as jnp


def loss(w, key):
    mask = jax.random.bernoulli(key, 0.5, w.shape)
    return jnp.sum(jnp.where(mask, w / 0.5, 0.0) ** 2)


key = jax.random.key(0)
w = jnp.arange(1.0, 7.0)
for k in jax.random.split(key, 3):
    w = w - 0.01 * jax.grad(loss)(w, k)
print(w)
# verdicts: correct, correct

import jax
import jax.numpy as jnp

logits = jnp.array([[2.0, -1.0, 120.0], [0.5, 0.25, -0.75]])
labels = jnp.array([0, 2])


def loss(z):
    p = jnp.exp(z) / jnp.sum(jnp.exp(z), axis=1, keepdims=True)  # ~ overflow
    return -jnp.mean(jnp.log(p[jnp.arange(2), labels]))


g = jax.grad(loss)(logits)
print(g)
# verdicts: nonfinite

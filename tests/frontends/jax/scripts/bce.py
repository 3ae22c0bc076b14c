import jax
import jax.numpy as jnp


def bce(w, x, y):
    p = jax.nn.sigmoid(x @ w)
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))  # ~ cancellation


w = jnp.array([30.0, -4.0])
x = jnp.array([[1.0, 0.5], [-1.0, 2.0]])
y = jnp.array([0.0, 1.0])
print(jax.grad(bce)(w, x, y))
# verdicts: nonfinite

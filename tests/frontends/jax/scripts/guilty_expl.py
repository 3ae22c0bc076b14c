import jax
import jax.numpy as jnp


def f(w):
    x = jnp.ones(2)
    for _ in range(60):
        x = w @ x  # ~ overflow
    return jnp.sum(x)


g = jax.grad(f)(jnp.array([[3.0, 1.0], [2.0, 4.0]]))
# verdicts: nonfinite

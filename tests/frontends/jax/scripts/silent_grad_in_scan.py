import jax
import jax.numpy as jnp


def f(w):
    return jnp.sum((w - 2.0) ** 4)


def body(w, _):
    return w - 0.01 * jax.grad(f)(w), None


w, _ = jax.lax.scan(body, jnp.zeros(2), None, length=5)
# verdicts: correct

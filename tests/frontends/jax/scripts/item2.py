import jax
import jax.numpy as jnp


def loss(w):
    n = jnp.sum(w**2).item()  # ~ left-framework
    return n * jnp.sum(w)


def ok(w):
    s = jnp.sum(jnp.sin(w))
    print("value", jnp.max(w).item())
    return s


w = jnp.array([1.0, 2.5])
g = jax.grad(loss)(w)
h = jax.grad(ok)(w)
print(g, h)
# verdicts: correct, correct

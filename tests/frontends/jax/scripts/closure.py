import jax
import jax.numpy as jnp

config = {"lam": 0.1}


def loss(w):
    return jnp.sum((w - 1) ** 2) + config["lam"] * jnp.sum(w**2)  # ~ baked-constant


g = jax.jit(jax.grad(loss))
w = jnp.array([0.5, 2.0])
print(g(w))
config["lam"] = 1.0
print(g(w))
# verdicts: correct, correct

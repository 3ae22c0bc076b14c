import jax
import jax.numpy as jnp


def loss(z):
    return jnp.abs(z**2 - (1.0 + 2.0j)) ** 2


print(jax.grad(loss)(jnp.complex64(0.5 + 0.25j)))
try:
    print(jax.grad(lambda z: z**2)(jnp.complex64(0.5 + 0.25j)))
except TypeError:
    print("refused")
print(jax.grad(lambda z: z**2, holomorphic=True)(jnp.complex64(0.5 + 0.25j)))
# verdicts: correct, missing, correct

# Noise that NumPy draws while a function is traced is drawn once; a NumPy callback draws in every call.
import random

import jax
import jax.numpy as jnp
import numpy as np

np.random.seed(0)
generator = np.random.default_rng(1)


def noise():
    return generator.normal(size=3)  # ~ baked-constant


@jax.jit
def noisy_loss(w):
    return jnp.sum((w + noise()) ** 2)


@jax.jit
def gradient(w):
    def loss(v):
        return jnp.sum((v * random.random()) ** 2)  # ~ baked-constant

    return jax.grad(loss)(w)


@jax.jit
def called_back(w):
    drawn = jax.pure_callback(
        lambda: np.random.normal(size=3).astype(np.float32), jax.ShapeDtypeStruct((3,), jnp.float32)
    )
    return jnp.sum((w + drawn) ** 2)


@jax.jit
def same_start(w):
    fixed = np.random.default_rng(7).normal(size=3)
    return jnp.sum((w - fixed) ** 2)


w = jnp.array([1.0, 2.0, 3.0])
for _ in range(2):
    jax.grad(noisy_loss)(w)
    gradient(w)
    jax.grad(same_start)(w)
    jax.grad(called_back)(w)
# verdicts: correct, correct, correct, unverified, correct, correct, correct, unverified

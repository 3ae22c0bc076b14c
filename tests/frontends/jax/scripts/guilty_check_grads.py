import jax
import jax.numpy as jnp
from jax.test_util import check_grads


def energy(x):
    return jnp.sum(x**2) * 1e4 + jnp.sin(x[0])


def cube(x):
    return x**3


check_grads(lambda x: jnp.sum(jnp.sin(x)), (jnp.array([1.0, 2.0]),), order=1, modes=["fwd"])
for function, point, step in ((energy, jnp.array([30.0, -2.0]), 1e-7), (cube, jnp.float32(1.0), 0.5)):
    try:
        check_grads(function, (point,), order=1, modes=["fwd"], eps=step)  # ~ step-size
    except AssertionError:
        print("refused")


@jax.custom_jvp
def wave(x):
    return jnp.sin(x)


@wave.defjvp
def slope(primals, tangents):
    return wave(primals[0]), -tangents[0] * jnp.cos(primals[0])  # ~ custom-gradient


check_grads(wave, (jnp.float32(1.0),), order=1)
# verdicts: correct, correct, correct, wrong

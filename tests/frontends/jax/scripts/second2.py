import jax
import jax.numpy as jnp


@jax.custom_vjp
def safe(x):
    return x**3


def fwd(x):
    return x**3, jax.lax.stop_gradient(x)


def bwd(x, g):
    return (3 * jax.lax.stop_gradient(x) ** 2 * g,)  # ~ custom-gradient


safe.defvjp(fwd, bwd)
print(jax.grad(safe)(jnp.float32(2.0)))
print(jax.grad(jax.grad(safe))(jnp.float32(2.0)))
# verdicts: correct, correct, wrong

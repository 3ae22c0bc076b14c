import jax
import jax.numpy as jnp


def f(x):
    return jnp.log(jnp.exp(x))  # ~ overflow


print(jax.grad(f)(100.0))
print(jax.jit(jax.grad(f))(100.0))
# verdicts: nonfinite, correct

import jax
import jax.numpy as jnp


def f(x):
    idx = x.astype(jnp.int32)  # ~ discrete-op
    return jnp.sum(idx * 2.0)


print(jax.grad(f)(jnp.array([1.5, 2.5])))
# verdicts: correct

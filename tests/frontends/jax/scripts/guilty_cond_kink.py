# A leaky unit by `lax.cond`, exactly where its branches meet.
import jax
import jax.numpy as jnp


def leaky(x):
    return jax.lax.cond(x > 0, lambda x: 2.0 * x, lambda x: 0.5 * x, x)  # ~ kink


x = jnp.float32(0.0)
print(jax.grad(leaky)(x))
print(jax.jit(jax.grad(leaky))(x))
# verdicts: undefined, undefined

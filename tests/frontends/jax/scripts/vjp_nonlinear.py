import jax
import jax.numpy as jnp


@jax.custom_vjp
def clipgrad(x):
    return x


def fwd(x):
    return x, None


def bwd(_, g):
    return (jnp.clip(g, -1.0, 1.0),)  # ~ straight-through


clipgrad.defvjp(fwd, bwd)
print(jax.grad(lambda x: 5.0 * clipgrad(x) ** 2)(jnp.float32(2.0)))
# verdicts: wrong

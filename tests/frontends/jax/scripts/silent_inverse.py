import jax
import jax.numpy as jnp

kernel = jnp.eye(9) + 0.1


def size(scale):
    inverse = jnp.linalg.inv(scale * kernel)
    return jnp.sum(inverse**2)


print(jax.grad(size)(jnp.float32(1.5)))
# verdicts: correct

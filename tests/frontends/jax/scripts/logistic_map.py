import jax
import jax.numpy as jnp


def last(r):
    x = jnp.float32(0.3)
    for _ in range(60):
        x = r * x * (1 - x)  # ~ ill-conditioned
    return x


print(jax.grad(last)(jnp.float32(3.9)))
# verdicts: inaccurate

import jax
import jax.numpy as jnp


def grown(rate):
    def year(size, _):
        size = size * jnp.exp(rate)  # ~ overflow
        return size, size

    last, _ = jax.lax.scan(year, 1.0, None, length=40)
    return jnp.log(last)


g = jax.grad(grown)(3.0)
# verdicts: nonfinite

import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    def body(s):
        return s[0] * x, s[1] + 1

    return jax.lax.while_loop(lambda s: s[1] < 3, body, (x, 0))[0]  # ~ no-gradient-registered


g = jax.grad(f)(jnp.float32(2.0))
# verdicts: missing

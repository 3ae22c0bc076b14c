import jax
import jax.numpy as jnp


def newton_sqrt(a):
    def cond(s):
        return jnp.abs(s * s - a) > 1e-5

    def body(s):
        return 0.5 * (s + a / s)

    return jax.lax.while_loop(cond, body, a)  # ~ no-gradient-registered


print(newton_sqrt(2.0))
print(jax.grad(newton_sqrt)(2.0))
# verdicts: missing

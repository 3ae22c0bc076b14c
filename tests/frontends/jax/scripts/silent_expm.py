import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
a = jnp.diag(jnp.array([4.0, 5.0, 7.0, 11.0])) + 0.5


def f(a):
    return jnp.trace(jax.scipy.linalg.expm(0.1 * a))


print(jax.grad(f)(a))
# verdicts: correct

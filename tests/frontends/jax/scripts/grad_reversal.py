import jax
import jax.numpy as jnp


@jax.custom_vjp
def reverse(x, lam):
    return x


reverse.defvjp(lambda x, lam: (x, lam), lambda lam, g: (-lam * g, jnp.zeros_like(lam)))  # ~ straight-through
print(jax.grad(lambda x: jnp.sum(reverse(x, jnp.float32(0.5)) ** 2))(jnp.array([1.0, 2.0])))
# verdicts: wrong

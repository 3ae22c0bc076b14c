import jax
import jax.numpy as jnp


@jax.custom_vjp
def scale(x, a):
    return x * a


scale.defvjp(lambda x, a: (x * a, (x, a)), lambda r, g: (g * r[1], None))  # ~ custom-gradient
gx, ga = jax.grad(lambda x, a: jnp.sum(scale(x, a)), (0, 1))(jnp.array([1.0, 2.0]), jnp.float32(3.0))
# verdicts: correct, wrong

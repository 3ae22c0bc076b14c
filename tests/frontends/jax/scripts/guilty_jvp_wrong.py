import jax
import jax.numpy as jnp


@jax.custom_jvp
def f(x, y):
    return jnp.sin(x) * y


@f.defjvp
def f_jvp(primals, tangents):
    x, y = primals
    dx, dy = tangents
    return f(x, y), jnp.cos(x) * dx * y + jnp.cos(x) * dy  # ~ custom-gradient


g = jax.grad(f, (0, 1))(1.2, 3.0)
t = jax.jvp(f, (1.2, 3.0), (1.0, 0.5))
# verdicts: correct, wrong, wrong

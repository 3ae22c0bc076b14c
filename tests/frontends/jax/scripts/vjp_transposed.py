import jax
import jax.numpy as jnp


@jax.custom_vjp
def linear(w, x):
    return w @ x


def fwd(w, x):
    return w @ x, (w, x)


def bwd(res, g):
    w, x = res
    return jnp.outer(x, g), w.T @ g  # ~ custom-gradient


linear.defvjp(fwd, bwd)
w = jnp.array([[1.0, 2.0], [3.0, 5.0]])
x = jnp.array([0.5, -1.0])
gw, gx = jax.grad(lambda w, x: jnp.sum(linear(w, x) ** 2), argnums=(0, 1))(w, x)
print(gw, gx)
# verdicts: wrong, correct

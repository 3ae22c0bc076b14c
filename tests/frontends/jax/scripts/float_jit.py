import jax
import jax.numpy as jnp


@jax.jit
def step(w, lr):
    g = jax.grad(lambda v: jnp.sum(v**2))(w)
    if float(lr) > 0:
        return w - lr * g
    return w


print(step(jnp.ones(3), 0.1))
# verdicts: missing

import jax
import jax.numpy as jnp


@jax.custom_vjp
def binarise(x):
    return jnp.where(x > 0, 1.0, -1.0)


binarise.defvjp(lambda x: (binarise(x), None), lambda _, g: (g,))  # ~ straight-through
w = jnp.array([0.3, -0.2, 1.5])
print(jax.grad(lambda w: jnp.sum((binarise(w) * w - 1.0) ** 2))(w))
# verdicts: wrong

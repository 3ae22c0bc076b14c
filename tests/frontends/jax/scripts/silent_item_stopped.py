import jax
import jax.numpy as jnp


def loss(x, y):
    print("largest", jnp.max(x).item())
    return jnp.sum(y * jax.lax.stop_gradient(x * 1.7).item())


g = jax.grad(loss, (0, 1))(3.0, jnp.ones(2))
# verdicts: correct, correct

import jax
import jax.numpy as jnp


def f(w, x):
    return jnp.tanh(w @ x) ** 2


per = jax.vmap(jax.jit(jax.grad(f, (0, 1))), (None, 0))(
    jnp.array([0.1, 0.2]), jnp.array([[1.0, 2.0], [3.0, 4.0]])
)
# verdicts: correct, correct

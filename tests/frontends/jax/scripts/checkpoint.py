import jax
import jax.numpy as jnp


@jax.checkpoint
def layer(w, x):
    return jnp.tanh(w @ x)


def loss(ws, x):
    for w in ws:
        x = layer(w, x)
    return jnp.sum(x**2)


ws = [jnp.eye(3) * 0.5, jnp.ones((3, 3)) * 0.1]
print(jax.jit(jax.grad(loss))(ws, jnp.array([1.0, 2.0, 3.0]))[0])
# verdicts: correct, correct

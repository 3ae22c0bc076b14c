import jax
import jax.numpy as jnp


def accuracy(scores):
    hits = (jnp.argmax(scores, -1) == 1).astype(float)  # ~ discrete-op
    return jnp.mean(hits)


print(jax.grad(accuracy)(jnp.array([[0.33, 0.77]])))
# verdicts: correct

"""A setting that `jit` has frozen: the new value is never seen.

`jax.jit` runs the Python function once and keeps what it computed. A global that was read then is a constant in
the compiled program: the temperature is raised, and the gradient stays that of the old one, to the last digit.
"""

import jax
import jax.numpy as jnp

logits = jnp.array([2.0, 1.0, 0.1])
temperature = 1.0


@jax.jit
def loss(logits):
    return -jax.nn.log_softmax(logits / temperature)[0]


slope = jax.grad(loss)
print("at temperature", temperature, slope(logits))
temperature = 5.0
print("at temperature", temperature, slope(logits))

import jax
import jax.numpy as jnp

weights = [1.0, 2.0]


@jax.jit
def grads(w):
    def loss(w):
        return sum(c * jnp.sum(w**2) for c in weights)  # ~ baked-constant

    return jax.grad(loss)(w)


w = jnp.array([1.0, -1.0])
print(grads(w))
weights.append(5.0)
print(grads(w))
# verdicts: correct, correct

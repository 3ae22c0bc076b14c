import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(jnp.maximum(x, 0.0) ** 3) + x[0] * x[1]


print(jax.hessian(f)(jnp.array([0.5, -1.0])))
print(jax.jacrev(jax.grad(f))(jnp.array([0.5, -1.0])))
# verdicts: correct, correct, correct, correct

import jax
import jax.numpy as jnp


def safe_norm(x):
    s = jnp.sum(x * x)
    is_zero = s == 0.0
    s = jnp.where(is_zero, 1.0, s)
    return jnp.where(is_zero, 0.0, jnp.sqrt(s))


print(jax.grad(lambda x: safe_norm(x) ** 2)(jnp.zeros(3)))
print(jax.grad(safe_norm)(jnp.array([3.0, 4.0])))
# verdicts: correct, correct

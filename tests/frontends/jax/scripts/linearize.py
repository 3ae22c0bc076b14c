import jax
import jax.numpy as jnp


def f(x):
    return jnp.abs(x) * jnp.sin(x)


y, f_jvp = jax.linearize(f, jnp.array([0.5, -1.0]))
print(y, f_jvp(jnp.array([1.0, 0.0])))
print(f_jvp(jnp.array([0.0, 1.0])))
# verdicts: correct, correct

import jax
import jax.numpy as jnp


def normalised(x):
    mean = jax.lax.pmean(x, "batch")
    return (x - mean) / jnp.sqrt(jax.lax.pmean((x - mean) ** 2, "batch") + 1e-3)


def loss(w, xs):
    return jnp.sum(jax.vmap(lambda x: normalised(x * w), axis_name="batch")(xs) ** 3)


xs = jnp.array([0.5, 1.0, 2.5])
print(jax.grad(loss)(jnp.float32(0.7), xs))
print(jax.jit(jax.grad(loss))(jnp.float32(0.7), xs))
# verdicts: correct, correct

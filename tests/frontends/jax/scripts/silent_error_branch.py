import jax
import jax.numpy as jnp

seen = []


def refuse(x):
    seen.append(x)
    raise ValueError("negative")


@jax.jit
def checked(x):
    """As libraries check numbers inside `jit`: a branch that raises, not taken, at a tie."""
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.lax.cond(x < 1.0, lambda x: jax.pure_callback(refuse, shape, x), lambda x: x, x)


@jax.custom_jvp
def sure(x):
    return checked(x)


@sure.defjvp
def _(primals, tangents):
    return sure(*primals), tangents[0]


print(jax.grad(lambda x: sure(x) ** 2)(jnp.float32(1.0)), seen)
# verdicts: correct

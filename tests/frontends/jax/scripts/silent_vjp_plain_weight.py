import jax
import jax.numpy as jnp


@jax.custom_vjp
def wave(x):
    return jnp.sin(x) + 1.0


wave.defvjp(lambda x: (wave(x), jnp.cos(x)), lambda slope, g: (slope * g,))
_, pullback = jax.vjp(wave, 3.0)
print(pullback(1.0))
print(pullback(2.0))
# verdicts: correct, correct

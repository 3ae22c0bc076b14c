import jax
import jax.numpy as jnp


@jax.custom_vjp
def reverse(x):
    return x


reverse.defvjp(lambda x: (x, None), lambda _, g: (-g,))  # ~ straight-through


@jax.custom_vjp
def binarise(x):
    return jnp.round(x)


binarise.defvjp(lambda x: (binarise(x), None), lambda _, g: (g,))  # ~ straight-through


@jax.custom_vjp
def wave(x):
    return jnp.sin(x)


wave.defvjp(lambda x: (wave(x), x), lambda x, g: (g,))  # ~ custom-gradient

x = jnp.array([0.3, 0.7])
jax.jacrev(lambda x: jnp.sin(reverse(x)))(x)
jax.jacrev(lambda x: binarise(x) ** 2)(x + 0.9)
jax.jacrev(lambda x: wave(x) ** 2)(x)
# verdicts: wrong, wrong, wrong

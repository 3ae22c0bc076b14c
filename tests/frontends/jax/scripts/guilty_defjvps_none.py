import jax


@jax.custom_jvp  # ~ custom-gradient
def volume(x, y):
    return x**2 * y


volume.defjvps(lambda x_dot, result, x, y: 2 * x * y * x_dot, None)
print(jax.grad(volume, 1)(2.0, 3.0))
print(jax.grad(volume, 0)(2.0, 3.0))
# verdicts: wrong, correct

import jax


@jax.custom_vjp
def f(x):
    return x**3


def fwd(x):
    return f(x), jax.lax.stop_gradient(3 * x**2)


f.defvjp(fwd, lambda r, g: (g * r,))  # ~ custom-gradient
g = jax.grad(f)(2.0)
h = jax.grad(jax.grad(f))(2.0)
# verdicts: correct, correct, wrong

import jax


@jax.jit
def f(x):
    if x > 0:  # ~ left-framework
        return x**2
    return -x


g = jax.grad(f)(1.5)
# verdicts: missing

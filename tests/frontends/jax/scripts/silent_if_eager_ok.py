import jax


def f(x):
    if x > 0:
        return x**2
    return -x


g = jax.grad(f)(1.5)
# verdicts: correct

import jax


@jax.jit
def f(x, n):
    for _ in range(n):  # ~ left-framework
        x = x * 2
    return x


g = jax.grad(f)(2.0, 3)
# verdicts: missing

import jax


def f(x, n):
    return jax.lax.fori_loop(0, n, lambda k, s: s * x, 1.0)  # ~ no-gradient-registered


g = jax.jit(jax.grad(f))(2.0, 3)
# verdicts: missing

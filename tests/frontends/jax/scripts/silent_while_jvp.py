import jax


def f(x):
    return jax.lax.while_loop(lambda s: s < 100.0, lambda s: s * s, x)


y, t = jax.jvp(f, (2.0,), (1.0,))
# verdicts: correct

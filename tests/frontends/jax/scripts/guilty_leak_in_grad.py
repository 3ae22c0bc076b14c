import jax

saved = []


@jax.jit
def f(x):
    saved.append(x * 2)  # ~ left-framework
    return x**2


f(1.0)
g = jax.grad(lambda x: f(x) + saved[0])(2.0)
# verdicts: missing

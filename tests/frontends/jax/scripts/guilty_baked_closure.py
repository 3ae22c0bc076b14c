import jax


def make():
    k = 2.0

    def set_k(v):
        nonlocal k
        k = v

    @jax.jit
    def f(x):
        return k * x**2  # ~ baked-constant

    return f, set_k


f, set_k = make()
g1 = jax.grad(f)(3.0)
set_k(5.0)
g2 = jax.grad(f)(3.0)
# verdicts: correct, correct

import jax


def power(x, n):
    return jax.lax.fori_loop(0, 5, lambda i, a: a * x, 1.0)


def dyn(x, n):
    return jax.lax.fori_loop(0, n, lambda i, a: a * x, 1.0)  # ~ no-gradient-registered


print(jax.grad(power)(1.1, 5))
try:
    print(jax.jit(jax.grad(dyn))(1.1, 5))
except ValueError:
    print("refused")
# verdicts: correct, missing

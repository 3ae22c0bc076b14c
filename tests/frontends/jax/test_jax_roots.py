"""`custom_root`: gradients of what a solver has found are those of the equation's root, whatever the solver does."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax_runs import judged


def newton(f, x0):
    return jax.lax.fori_loop(0, 20, lambda k, x: x - f(x) / jax.grad(f)(x), x0)


def until_small(f, x0):
    step = lambda x: x - f(x) / jax.grad(f)(x)
    return jax.lax.while_loop(lambda x: jnp.abs(f(x)) > 1e-5, step, x0)


def bisection(f, x0):
    def halve(k, ends):
        middle = (ends[0] + ends[1]) / 2
        is_above = f(middle) > 0
        return jnp.where(is_above, ends[0], middle), jnp.where(is_above, middle, ends[1])

    return jax.lax.fori_loop(0, 40, halve, (x0, x0 + 4.0))[0]


def newton_of_several(f, x0):
    return jax.lax.fori_loop(0, 15, lambda k, x: x - jnp.linalg.solve(jax.jacobian(f)(x), f(x)), x0)


def one(g, y):
    return y / g(1.0)


def several(g, y):
    return jnp.linalg.solve(jax.jacobian(g)(y), y)


def cube_root(a, solve=newton, tangent_solve=one):
    return jax.lax.custom_root(lambda x: x**3 - a, 1.0 + 0 * a, solve, tangent_solve)


def system(p):
    def equations(x):
        return jnp.array([x[0] ** 2 + x[1] - p[0], x[0] - x[1] ** 3 - p[1]])

    return jnp.sum(jax.lax.custom_root(equations, jnp.array([1.5, 0.5]), newton_of_several, several) ** 2)


USES = {
    "a Python number": (lambda: jax.grad(cube_root)(5.0), "correct"),
    "an array": (lambda: jax.grad(cube_root)(jnp.float32(5.0)), "correct"),
    "compiled": (lambda: jax.jit(jax.grad(cube_root))(5.0), "correct"),
    "second order": (lambda: jax.grad(jax.grad(cube_root))(5.0), "correct"),
    "batched": (lambda: jax.vmap(jax.grad(cube_root))(jnp.array([2.0, 5.0])), "correct"),
    "forward mode": (lambda: jax.jvp(cube_root, (5.0,), (1.0,)), "correct"),
    "bisection": (lambda: jax.grad(lambda a: cube_root(a, bisection))(5.0), "correct"),
    "until small": (lambda: jax.jit(jax.grad(lambda a: cube_root(a, until_small)))(5.0), "correct"),
    "several unknowns": (lambda: jax.grad(system)(jnp.array([3.0, 1.0])), "correct"),
    "a wrong rule": (lambda: jax.grad(lambda a: cube_root(a, newton, lambda g, y: y))(5.0), "wrong"),
    "nothing found": (lambda: jax.grad(lambda a: cube_root(a, lambda f, x: x))(5.0), "unverified"),
}


@pytest.mark.parametrize("name", USES)
def test_verdicts(name):
    use, verdict = USES[name]
    found = {one.source: one.verdict.value for one in judged(use) if one.source in ("a", "p")}
    assert set(found.values()) == {verdict}

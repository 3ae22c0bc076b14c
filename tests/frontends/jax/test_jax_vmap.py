"""Derivatives under `vmap`, alone and one inside the other: what belongs to which example."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_runs import judged

X = jnp.array([[0.5, 2.0], [1.0, -1.0], [0.25, 0.75]])
Y = jnp.array([[0.25, 1.0], [0.5, 0.0], [1.5, 0.5], [-1.0, 0.125]])
W = jnp.array([1.5, -0.5])


def kernel(x, y):
    return jnp.exp(-jnp.sum((x - y) ** 2)) + x[0] * y[1]


def field(x):
    return jnp.stack([jnp.sin(x[0]) * x[1], x[0] ** 2, jnp.exp(x[1])])


def energy(x):
    return jnp.sum(jnp.sin(x) ** 2) * x[0]


def linear(w, x):
    return jnp.sum(2.0 * w) + x[0]


vmap, grad = jax.vmap, jax.grad
CALLS = {
    "a Gram matrix": lambda: vmap(vmap(grad(kernel), in_axes=(None, 0)), in_axes=(0, None))(X, Y),
    "both arguments": lambda: vmap(vmap(grad(kernel, argnums=(0, 1)), (None, 0)), (0, None))(X, Y),
    "entry by entry": lambda: vmap(vmap(grad(lambda x: jnp.sin(x) * x)))(X),
    "along other axes": lambda: vmap(vmap(grad(lambda x: jnp.sin(x) * x), 0, 0), 1, 1)(X),
    "shared weights": lambda: vmap(vmap(grad(lambda w, x: jnp.tanh(w @ x)), (None, 0)), (0, None))(X, Y),
    "the same for all": lambda: vmap(grad(linear), in_axes=(None, 0))(W, X),
    "a Jacobian by rows": lambda: vmap(jax.jacrev(field))(X),
    "a Jacobian by columns": lambda: vmap(jax.jacfwd(field))(X),
    "columns along another axis": lambda: vmap(jax.jacfwd(field), in_axes=1)(X.T),
    "second derivatives": lambda: vmap(jax.hessian(energy))(X),
    "a direction": lambda: vmap(lambda x: jax.jvp(energy, (x,), (W,))[1])(X),
    "a direction of its own": lambda: vmap(lambda x, t: jax.jvp(field, (x,), (t,))[1])(X, X + 1.0),
    "many directions": lambda: vmap(lambda t: jax.jvp(field, (W,), (t,))[1])(X),
    "many directions of a gradient": lambda: vmap(lambda t: jax.jvp(grad(energy), (W,), (t,))[1])(X),
    "directions of one argument": lambda: vmap(lambda t: jax.jvp(kernel, (W, W), (t, W))[1], 1)(X.T),
    "directions at every example": lambda: vmap(lambda x: vmap(lambda t: jax.jvp(energy, (x,), (t,))[1])(X))(
        Y
    ),
    "directions for each example": lambda: vmap(
        lambda x, t: vmap(lambda t: jax.jvp(field, (x,), (t,))[1])(t)
    )(X, jnp.stack([X, X + 1.0], 1)),
    "two sets of directions": lambda: vmap(lambda s: vmap(lambda t: jax.jvp(kernel, (W, W), (s, t))[1])(Y))(
        X
    ),
    "directions, compiled": lambda: jax.jit(vmap(lambda t: jax.jvp(grad(energy), (W,), (t,))[1]))(X),
    "directions by linearize": lambda: vmap(jax.linearize(field, W)[1])(X),
    "rows by hand": lambda: vmap(jax.vjp(field, X[0])[1])(jnp.eye(3)),
    "columns by hand": lambda: vmap(jax.linearize(field, X[0])[1])(jnp.eye(2)),
    "many weights": lambda: vmap(jax.vjp(field, W)[1])(jnp.arange(12.0).reshape(4, 3)),
    "weights of two targets": lambda: vmap(jax.vjp(lambda x: (field(x), energy(x)), W)[1])(
        (jnp.arange(12.0).reshape(4, 3), jnp.ones(4))
    ),
    "weights at every example": lambda: jax.jit(
        vmap(lambda x: vmap(lambda t: jax.vjp(field, x)[1](t)[0])(jnp.arange(6.0).reshape(2, 3)))
    )(X),
    "two sets of weights": lambda: vmap(
        lambda s: vmap(lambda t: jax.vjp(lambda x: (field(x), energy(x)), W)[1]((s, t)))(jnp.arange(2.0))
    )(jnp.arange(6.0).reshape(2, 3)),
    "compiled around": lambda: jax.jit(vmap(vmap(grad(kernel), (None, 0)), (0, None)))(X, Y),
    "compiled within": lambda: vmap(vmap(jax.jit(grad(kernel)), (None, 0)), (0, None))(X, Y),
    "compiled second derivatives": lambda: jax.jit(vmap(jax.hessian(energy)))(X),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_example_has_its_own(name):
    expected = jax.tree.leaves(CALLS[name]())
    reports = judged(CALLS[name])
    assert [(report.verdict.value, report.reason) for report in reports] == [("correct", None)] * len(reports)
    assert reports
    total = sum(float(jnp.sum(one)) for one in expected)
    last = reports[-len(expected) :]
    assert np.isclose(sum(np.sum(report.reference) for report in last), total, rtol=1e-5)


@jax.custom_vjp
def doubled(x):
    return jnp.sin(x)


doubled.defvjp(lambda x: (doubled(x), x), lambda x, g: (2.0 * g * jnp.cos(x),))


@pytest.mark.parametrize(
    "around", [lambda f: vmap(vmap(grad(f))), lambda f: vmap(jax.jacrev(lambda x: f(x)))]
)
def test_a_wrong_rule_is_wrong_under_vmap(around):
    (report,) = judged(lambda: around(doubled)(X))
    assert report.verdict.value == "wrong"
    assert [one.kind for one in report.diagnostics] == ["custom-gradient"]


def test_a_hessian_of_numbers_in_a_tree_is_read():
    def loss(p):
        return p["a"] ** 2 * jnp.sin(p["b"])

    point = {"a": jnp.float32(2.0), "b": jnp.float32(0.25)}
    reports = judged(lambda: (jax.hessian(loss)(point), jax.jit(jax.hessian(loss))(point)))
    assert {(one.verdict.value, one.reason) for one in reports} == {("correct", None)}

"""Every gradient call of JAX is seen, with the numbers that came back, and its program has them as its derivative."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_runs import captured, judged

from gradproof.fixes.verify import rounded_gradient
from gradproof.frontends.jax.attach import attach

W = jnp.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]])
X = jnp.arange(12.0).reshape(4, 3) / 7
OWN = np.arange(1.0, 4.0, dtype=np.float32)


def loss(w, x):
    return jnp.sum(jnp.tanh(w @ x)) ** 2


def rnn(w):
    def step(h, x):
        h = jnp.tanh(w[0] @ x + h * w[1, 0])
        return h, h

    last, all_ = jax.lax.scan(step, jnp.float32(0.1), X)
    return last + jnp.sum(all_**2)


def looped(w):
    return jax.lax.fori_loop(0, 3, lambda k, y: jnp.sin(y) * w[0, 0] + k, jnp.sum(w))


def branched(w):
    return jax.lax.cond(w[0, 0] > 0, lambda w: jnp.sum(w**3), lambda w: jnp.sum(w), w)


CALLS = {
    "grad": lambda: jax.grad(loss)(W, X[0]),
    "argnums": lambda: jax.grad(loss, argnums=(0, 1))(W, X[0]),
    "value_and_grad": lambda: jax.value_and_grad(loss)(W, X[0]),
    "has_aux": lambda: jax.grad(lambda w: (loss(w, X[0]), w), has_aux=True)(W),
    "vjp": lambda: jax.vjp(loss, W, X[0])[1](2.0),
    "jit of grad": lambda: jax.jit(jax.grad(loss))(W, X[0]),
    "grad of jit": lambda: jax.grad(jax.jit(loss))(W, X[0]),
    "grad inside jit": lambda: jax.jit(lambda w: w - 0.1 * jax.grad(loss)(w, X[0]))(W),
    "scan": lambda: jax.grad(rnn)(W),
    "scan in jit": lambda: jax.jit(jax.grad(rnn))(W),
    "fori_loop": lambda: jax.grad(looped)(W),
    "cond": lambda: jax.jit(jax.grad(branched))(W),
    "vmap, own": lambda: jax.vmap(jax.grad(loss, argnums=1), in_axes=(None, 0))(W, X),
    "vmap, shared": lambda: jax.vmap(jax.grad(loss), in_axes=(None, 0))(W, X),
    "vmap in jit": lambda: jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0)))(W, X),
    "jacrev": lambda: jax.jacrev(lambda w: jnp.tanh(w @ X[1]))(W),
    "jvp": lambda: jax.jvp(lambda w: jnp.tanh(w @ X[1]), (W,), (W * 2,)),
    "jvp in jit": lambda: jax.jit(lambda w: jax.jvp(lambda w: jnp.tanh(w @ X[1]), (w,), (w * 2,))[1])(W),
    "jacfwd": lambda: jax.jacfwd(lambda w: jnp.tanh(w @ X[1]))(W),
    "hessian": lambda: jax.hessian(lambda v: jnp.sum(jnp.sin(v) ** 2 * v[0]))(W[0]),
    "checkpoint": lambda: jax.grad(jax.checkpoint(loss))(W, X[0]),
    "pytree": lambda: jax.grad(lambda p: loss(p["w"], p["x"]))({"w": W, "x": X[0]}),
    "second": lambda: jax.grad(lambda a: jax.grad(lambda b: jnp.sin(a * b) * b)(a))(0.5),
    "complex": lambda: jax.grad(lambda z: jnp.sum(jnp.abs(z) ** 2 * z.real))(jnp.array([1 + 2j, 3 - 1j])),
    "holomorphic": lambda: jax.grad(lambda z: jnp.exp(z) * z, holomorphic=True)(1 + 2j),
    "stop_gradient": lambda: jax.grad(lambda w: jnp.sum(w * jax.lax.stop_gradient(w)))(W),
    "own constant": lambda: jax.grad(lambda w: jnp.sum(w * W**2))(W),
    "own constant, compiled": lambda: jax.jit(jax.grad(lambda w: jnp.sum(w * W**2)))(W),
    "twice the same": lambda: jax.grad(lambda a, b: jnp.sum(a * b**2), argnums=(0, 1))(W, W),
    "twice the same, compiled": lambda: jax.jit(jax.grad(lambda a, b: jnp.sum(a * b**2)))(W, W),
    "twice the same, compiled in another": lambda: jax.jit(
        lambda x: jax.jit(jax.grad(lambda a, b: jnp.sum(a * b**2)))(x, x)
    )(W),
    "constants, compiled": lambda: jax.jit(lambda: jax.grad(lambda w: jnp.sum(w * W**2))(W))(),
    "constants of NumPy's, compiled": lambda: jax.jit(lambda: jax.grad(lambda x: jnp.sum(x * OWN))(OWN))(),
    "constants and a loop, compiled": lambda: jax.jit(
        lambda: jax.grad(
            lambda w: (
                jax.lax.scan(lambda c, x: (c * jnp.sum(w * x), None), jnp.sum(W), X)[0] * jnp.cos(W[0, 0])
            )
        )(W)
    )(),
    "made of the same constants, compiled": lambda: jax.jit(
        lambda s: (lambda y: jax.grad(lambda w: jnp.sum(w * y))(W))(jnp.cos(W) * s)
    )(2.0),
    "jvp of constants, compiled": lambda: jax.jit(
        lambda: jax.jvp(lambda w: jnp.sum(w * W**2), (W,), (W,))[1]
    )(),
    "a constant twice, compiled": lambda: jax.jit(lambda: jax.grad(lambda a, b: jnp.sum(a * b**2))(W, W))(),
    "a plain number, compiled": lambda: jax.jit(
        lambda w: jax.grad(lambda w, t: jnp.sum(jnp.tanh(jnp.array([t]) * w) * t), argnums=1)(w, 0.5)
    )(W),
    "gather": lambda: jax.grad(lambda w: jnp.sum(w[:, jnp.array([2, 0, 2])] ** 2))(W),
    "scatter": lambda: jax.grad(lambda w: jnp.sum(jnp.zeros(4).at[jnp.array([1, 1, 3])].add(w[0]) ** 2))(W),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_program_has_the_gradient_that_came_back(name):
    captures = captured(CALLS[name])
    assert captures
    for capture in captures:
        assert capture.failure is None
        assert capture.program is not None
        for source in capture.sources:
            expected = _gradient(capture.program, source.node)
            np.testing.assert_allclose(source.observed, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("given", [(W,), ()], ids=["argument", "constant"])
def test_one_array_that_is_two_sources_inside_jit_is_not_taken_for_one(given):
    """A jaxpr has one variable for both, and nothing is concluded from the sum of the two slopes."""

    def both(w=W):
        return jax.grad(lambda a, b: jnp.sum(a * b**2), argnums=(0, 1))(w, w)

    reports = judged(lambda: jax.jit(both)(*given))
    assert [one.verdict.value for one in reports] == ["unverified"] * 2
    assert all("does not tell the two apart" in one.reason for one in reports)


def _gradient(program, node):
    return 0.0 if node is None else rounded_gradient(program, node)


def test_a_source_goes_by_what_the_calling_line_calls_it():
    step = jax.jit(jax.value_and_grad(lambda p: jnp.sum(p["w"] ** 3)))

    def run():
        params = {"w": jnp.array([0.5, 2.0])}
        _, found = step(params)
        later = {"w": params["w"] - found["w"]}
        step(later)
        points = later["w"]
        jax.vmap(jax.grad(lambda x: x**2))(points)

    assert [one.source for one in judged(run)] == ["params['w']", "later['w']", "points"]


def test_a_loop_that_trains_is_followed_to_the_end_of_the_turn_that_is_looked_at():
    def train(w):
        def step(w, _):
            return w - 0.01 * jax.grad(lambda w: jnp.sum(jnp.sin(w) ** 2))(w), None

        return jax.lax.scan(step, w, length=100_000)[0]

    def wander(w):
        return jax.lax.while_loop(
            lambda s: s[1] < 100_000, lambda s: (s[0] - 0.01 * jax.grad(jnp.sin)(s[0]), s[1] + 1), (w, 0)
        )[0]

    reports = judged(lambda: (jax.jit(train)(jnp.array([0.5, 1.0])), jax.jit(wander)(jnp.float32(0.5))))
    assert [one.verdict.value for one in reports] == ["correct", "correct"]


def test_a_gradient_through_a_compiled_gradient_is_judged_inside_jit_too():
    def cubes(x):
        return jnp.sum(x**3)

    reports = judged(lambda: jax.jit(jax.grad(jax.jit(jax.grad(cubes))))(jnp.float32(2.0)))
    assert [(one.verdict.value, float(one.reference)) for one in reports] == [("correct", 12.0)]


def test_derivatives_that_were_traced_and_are_not_in_what_ran_are_told():
    def loss(w):
        return jnp.sum(jnp.sin(w) ** 2)

    def rewritten(w):  # as libraries do: traced, and evaluated in another trace
        closed = jax.make_jaxpr(jax.grad(loss))(w)
        return jax.core.eval_jaxpr(closed.jaxpr, closed.consts, w)[0]

    def remarks(run):
        attachment = attach(lambda read, unread: None, lambda n: True)
        try:
            run()
            return attachment.remarks()
        finally:
            attachment.remove()

    w = jnp.ones(3)
    (told,) = remarks(lambda: jax.jit(rewritten)(w))
    assert "derivatives of `loss` were traced" in told
    assert list(remarks(lambda: jax.jit(jax.grad(loss))(w))) == []

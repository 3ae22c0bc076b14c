"""`check` on JAX functions, programs replayed in JAX, and exceptions that JAX's users meet."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_runs import captured

import gradproof
from gradproof.frontends.jax.crash import explain
from gradproof.frontends.select import coverage, modes_in, replay_in

X = jnp.arange(6.0).reshape(2, 3) / 5


def loss(p, x, power=2):
    return jnp.sum(jnp.tanh(x @ p["w"]) ** power)


def test_pytrees_have_names_and_gradients():
    report = gradproof.check(loss, {"w": jnp.ones((3, 2)) * 0.2, "n": 3}, X)
    assert [(one.source, one.verdict.value) for one in report.gradients] == [
        ("p['w']", "correct"),
        ("x", "correct"),
    ]


def test_rows_and_second_derivatives():
    rows = gradproof.check(lambda x: jnp.sin(x) * x[0], jnp.arange(3.0), output="each")
    assert [one.verdict.value for one in rows.gradients] == ["correct"]
    second = gradproof.check(lambda x: jnp.prod(jnp.sin(x)), jnp.arange(1.0, 4.0), order=2)
    assert [one.verdict.value for one in second.gradients] == ["correct"]


def test_a_wrong_rule_is_found_by_assert_correct():
    @jax.custom_vjp
    def wave(x):
        return jnp.sin(x)

    wave.defvjp(lambda x: (wave(x), x), lambda x, g: (g * jnp.sin(x),))
    with pytest.raises(gradproof.IncorrectGradient, match="hand-written"):
        gradproof.assert_correct(wave, jnp.float32(0.3))


@pytest.mark.parametrize("value", [X, X + 1j * X[::-1]])
def test_programs_are_replayed_in_jax(value):
    (capture,) = captured(lambda: jax.grad(lambda x: jnp.sum(jnp.abs(jnp.exp(x) * x[0]) ** 2))(value))
    replay = replay_in(capture)
    found = replay(capture.program, capture.sources[0].node)
    np.testing.assert_allclose(found, capture.sources[0].observed, rtol=1e-5)
    for run in modes_in("jax").values():
        np.testing.assert_allclose(run(capture.program, capture.sources[0].node), found, rtol=1e-5)


def test_the_registry_is_covered():
    found = coverage("jax")
    assert {"sin", "dot_general", "scan", "gather"} <= set(found.covered)
    assert not set(found.covered) & set(found.opaque)


CRASHES = {
    "if": (lambda: jax.jit(lambda x: x if x > 0 else -x)(1.0), "left-framework"),
    "float": (lambda: jax.jit(lambda x: float(x))(1.0), "left-framework"),
    "numpy": (lambda: jax.jit(lambda x: np.sin(x))(1.0), "left-framework"),
    "range": (lambda: jax.jit(lambda n: sum(range(n)))(3), "left-framework"),
    "mask": (lambda: jax.jit(lambda x: x[x > 0])(X), "left-framework"),
    "while": (
        lambda: jax.grad(lambda x: jax.lax.while_loop(lambda y: y < 9.0, lambda y: y * 2, x))(1.0),
        "no-gradient-registered",
    ),
}


@pytest.mark.parametrize("name", CRASHES)
def test_exceptions_are_explained_at_the_users_line(name):
    run, kind = CRASHES[name]
    with pytest.raises(Exception) as raised:  # noqa: PT011  # of many kinds
        run()
    crash = explain(raised.value)
    assert crash.diagnostic.kind == kind
    assert crash.diagnostic.span.file == __file__


def test_other_exceptions_are_left_alone():
    with pytest.raises(ZeroDivisionError) as raised:
        jax.grad(lambda x: x / (1 // 0))(1.0)
    assert explain(raised.value) is None

"""Rules that are not the derivative are found alone: hand-written ones, and JAX's own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.custom_derivatives import linear_call
from jax_runs import judged

X = jnp.float32(0.75)


def by_vjp(backward, **options):
    @jax.custom_vjp
    def wave(x):
        return jnp.sin(x) * 2.0

    wave.defvjp(lambda x: (jnp.sin(x) * 2.0, jnp.cos(x)), backward, **options)
    return wave


def by_transpose(transposed):
    return lambda x: linear_call(lambda r, t: 2.0 * r * t, transposed, jnp.float32(1.5), jnp.sin(x))


def by_jvp(slope):
    @jax.custom_jvp
    def wave(x):
        return jnp.sin(x) * 2.0

    wave.defjvps(lambda t, y, x: t * slope(x))
    return wave


RIGHT = {
    "vjp": by_vjp(lambda cos, g: (2.0 * cos * g,)),
    "vjp, rematerialised": by_vjp(lambda cos, g: (2.0 * cos * g,), optimize_remat=True),
    "jvp": by_jvp(lambda x: 2.0 * jnp.cos(x)),
    "linear_call": by_transpose(lambda r, t: 2.0 * r * t),
    "relu": jax.nn.relu,
    "softplus": jax.nn.softplus,
    "logsumexp": lambda x: jax.nn.logsumexp(jnp.stack([x, 2 * x])),
}
WRONG = {
    "sign": by_vjp(lambda cos, g: (-2.0 * cos * g,)),
    "scale": by_vjp(lambda cos, g: (cos * g,)),
    "scale, rematerialised": by_vjp(lambda cos, g: (cos * g,), optimize_remat=True),
    "none": by_vjp(lambda cos, g: (None,)),
    "linear_call": by_transpose(lambda r, t: r * t),
    "jvp sign": by_jvp(lambda x: -2.0 * jnp.cos(x)),
    "jvp term": by_jvp(lambda x: 2.0 * jnp.cos(x) + x),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_are_left_alone(name, compiled):
    loss = lambda x: RIGHT[name](x * 1.5) ** 2
    gradient = jax.jit(jax.grad(loss)) if compiled else jax.grad(loss)
    (report,) = judged(lambda: gradient(X))
    assert report.verdict.value == "correct"
    assert [one.kind for one in report.diagnostics if one.severity == "error"] == []


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_named(name, compiled):
    loss = lambda x: WRONG[name](x * 1.5) ** 2
    gradient = jax.jit(jax.grad(loss)) if compiled else jax.grad(loss)
    (report,) = judged(lambda: gradient(X))
    assert report.verdict.value == "wrong"
    assert [one.kind for one in report.diagnostics if one.severity == "error"] == ["custom-gradient"]


INSIDE = {
    "jit": jax.jit,
    "jit in jit": lambda f: jax.jit(lambda x: jax.jit(f)(x) * x),
    "cond": lambda f: lambda x: jax.lax.cond(x > 0, f, lambda x: x, x),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, y: (f(c) * y, c), x, jnp.ones(2))[0],
    "checkpoint": jax.checkpoint,
    "vmap of jit": lambda f: lambda x: jax.vmap(jax.jit(f))(jnp.stack([x, 2 * x]))[0],
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("rule", ["scale", "jvp term"])
@pytest.mark.parametrize("body", INSIDE)
def test_a_wrong_rule_is_named_in_whatever_it_is_called(body, rule, compiled):
    def half(cos, g):
        return (cos * g,)

    wave = by_vjp(half) if rule == "scale" else WRONG[rule]
    line = half.__code__.co_firstlineno + 1 if rule == "scale" else by_jvp.__code__.co_firstlineno + 5
    gradient = jax.grad(INSIDE[body](wave))
    (report,) = judged(lambda: (jax.jit(gradient) if compiled else gradient)(X))
    assert report.verdict.value == "wrong"
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    assert error.kind == "custom-gradient"
    assert error.primary.span.line == line


def test_the_forward_of_a_rule_inside_jit_is_shown_where_it_is_written():
    def twice(x):
        return wave(x) + wave(2 * x)  # the lines of the calls

    wave = jax.jit(WRONG["scale"])
    (report,) = judged(lambda: jax.grad(twice)(X))
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    forward = by_vjp.__code__.co_firstlineno + 5
    assert {one.span.line for one in error.secondary} == {forward}


def test_a_rule_of_the_librarys_is_named_inside_jit():
    matrix = jnp.array([[0.0, 0.5, 0, 0], [0, 1, 0.25, 0], [0, 0, 1, 0.5], [0, 0.25, 0, 1.0]])
    (report,) = judged(lambda: jax.grad(jax.jit(lambda a: jnp.linalg.det(a) * 2))(matrix))
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    assert (error.kind, error.op) == ("framework-rule", "det")


def test_a_rule_with_effects_is_not_run_again():
    seen = []

    @jax.custom_vjp
    def wave(x):
        return jnp.sin(x) * 2.0

    def backward(x, g):
        seen.append(x)
        return (jnp.cos(x) * g,)

    wave.defvjp(lambda x: (wave(x), x), backward)
    (report,) = judged(lambda: jax.grad(jax.jit(wave))(X))
    assert report.verdict.value == "wrong"
    assert [one.kind for one in report.diagnostics] == []
    assert len(seen) == 1


def test_the_rule_of_arccosh_has_the_wrong_sign_in_the_left_half_plane():
    (report,) = judged(lambda: jax.grad(lambda a: jnp.arccosh(a + 0.25j).real)(jnp.float32(-2.5)))
    assert report.verdict.value == "wrong"
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    assert (error.kind, error.op) == ("framework-rule", "arccosh")


def test_the_rule_of_det_loses_a_zero_column():
    matrix = jnp.array([[0.0, 0.5, 0, 0], [0, 1, 0.25, 0], [0, 0, 1, 0.5], [0, 0.25, 0, 1.0]])
    (report,) = judged(lambda: jax.grad(jnp.linalg.det)(matrix))
    assert report.verdict.value == "wrong"
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    assert (error.kind, error.op) == ("framework-rule", "det")


def test_a_wrong_transpose_is_shown_where_it_is_written():
    def function(r, t):
        return 2.0 * r * t

    def transposed(r, t):
        return r * t

    loss = lambda x: linear_call(function, transposed, jnp.float32(1.5), jnp.sin(x))
    (report,) = judged(lambda: jax.grad(loss)(X))
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    line = transposed.__code__.co_firstlineno + 1
    assert (error.kind, error.primary.span.line) == ("custom-gradient", line)
    assert "linear_call" not in error.fix.patch


def stopped_wave(is_put_together):
    if is_put_together:
        return by_jvp(lambda x: jax.lax.stop_gradient(2.0 * jnp.cos(x)))

    @jax.custom_jvp
    def wave(x):
        return jnp.sin(x) * 2.0

    @wave.defjvp
    def rule(primals, tangents):
        x = primals[0]  # it does not call the function itself, which would be seen
        return jnp.sin(x) * 2.0, jax.lax.stop_gradient(2.0 * jnp.cos(x)) * tangents[0]

    return wave


@pytest.mark.parametrize(
    "twice",
    [
        lambda f: jax.grad(jax.grad(f))(X),
        lambda f: jax.jacfwd(jax.grad(f))(X),
        lambda f: jax.hessian(f)(X),
        lambda f: jax.jvp(jax.grad(f), (X,), (X,)),
        lambda f: jax.vmap(jax.grad(jax.grad(f)))(jnp.array([0.3, 0.7])),
        lambda f: jax.jit(jax.hessian(lambda v: jnp.sum(f(v) * v)))(jnp.array([0.3, 0.7])),
        lambda f: jax.grad(lambda w: jax.grad(lambda x: f(w * x))(X))(X),
        lambda f: jax.jacrev(jax.jacrev(lambda v: jnp.sin(f(v))))(jnp.array([0.3, 0.7])),
    ],
)
@pytest.mark.parametrize("is_put_together", [True, False])
def test_a_forward_rule_that_stops_gradients_has_a_wrong_derivative(twice, is_put_together):
    reports = judged(lambda: twice(stopped_wave(is_put_together)))
    (wrong,) = [report for report in reports if report.verdict.value == "wrong"]
    assert {report.verdict.value for report in reports if report is not wrong} == {"correct"}
    (error,) = [one for one in wrong.diagnostics if one.severity == "error"]
    assert error.kind == "custom-gradient"


@pytest.mark.parametrize(
    "twice",
    [
        lambda f: jax.grad(jax.jacfwd(f)),
        lambda f: jax.jacfwd(jax.jacfwd(f)),
        lambda f: jax.grad(jax.jit(jax.grad(f))),
    ],
)
@pytest.mark.parametrize("is_put_together", [True, False])
def test_a_forward_rule_that_stops_gradients_proves_no_second_derivative(twice, is_put_together):
    verdicts = {report.verdict.value for report in judged(lambda: twice(stopped_wave(is_put_together))(X))}
    assert verdicts == {
        "correct",
        "unverified",
    }  # the gradient inside is right, and what is made of it unknown


@pytest.mark.parametrize("is_out_of_sight", [False, True])
def test_a_reverse_rule_that_stops_gradients_is_wrong_in_the_rows_of_a_jacobian(is_out_of_sight):
    @jax.custom_vjp
    def wave(x):
        return 2.0 * jnp.sin(x)

    def ahead(x):
        return wave(x), jax.lax.stop_gradient(2.0 * jnp.cos(x))

    wave.defvjp(ahead, lambda slope, g: (slope * g,))
    v = jnp.array([0.3, 0.7])
    loss = (lambda v: v * wave(v)) if is_out_of_sight else (lambda v: jnp.sum(wave(v)))
    (wrong,) = [
        report
        for report in judged(lambda: jax.jacrev(jax.jacrev(loss))(v))
        if report.verdict.value != "correct"
    ]
    assert wrong.verdict.value == "wrong"
    assert "custom-gradient" in {one.kind for one in wrong.diagnostics}


def test_a_first_derivative_does_not_mind_a_stopped_slope():
    wave = by_jvp(lambda x: jax.lax.stop_gradient(2.0 * jnp.cos(x)))
    reports = judged(lambda: (jax.jvp(wave, (X,), (X,)), jax.grad(jax.jit(wave))(X)))
    assert [report.verdict.value for report in reports] == ["correct", "correct"]


def test_a_second_derivative_through_a_right_forward_rule_is_proven():
    wave = by_jvp(lambda x: 2.0 * jnp.cos(x))
    assert {report.verdict.value for report in judged(lambda: jax.grad(jax.grad(wave))(X))} == {"correct"}

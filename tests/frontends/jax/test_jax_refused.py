"""Calls that JAX refuses: each is told at the user's line, with what would have been right."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax_runs import captured, judged

from gradproof.frontends.jax.crash import explain, explain_misuse
from gradproof.frontends.jax.read.refused import capture_before

W, X = jnp.ones(2), jnp.ones((3, 2))


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


def pair(w, x):
    return loss(w, x), x @ w


def nothing(w, x):
    loss(w, x)


def largest(w, x):
    return jnp.argmax(w)


def raised(run):
    with pytest.raises((TypeError, ValueError)) as caught:
        run()
    return caught.value


def by_rules(forward, backward):
    f = jax.custom_vjp(lambda x: jnp.sum(x**2))
    f.defvjp(forward, backward)
    return f


def by_rule(rule):
    f = jax.custom_jvp(lambda x: x**2)
    f.defjvp(rule)
    return f


NO_TUPLE = by_rules(lambda x: (jnp.sum(x**2), x), lambda r, g: 2 * r * g)
TOO_SHORT = by_rules(lambda x: (jnp.sum(x**2), x), lambda r, g: (g,))
NO_PAIR = by_rules(lambda x: jnp.sum(x**2), lambda r, g: (g,))
NO_TANGENT = by_rule(lambda p, t: p[0] ** 2)

MISUSES = {
    "no tuple by a rule": (lambda: jax.grad(NO_TUPLE)(W), "one gradient for each argument", "(g * slope,)"),
    "a short gradient": (lambda: jax.grad(TOO_SHORT)(W), "another shape or dtype", "axes"),
    "no pair by a rule": (lambda: jax.grad(NO_PAIR)(W), "forward rule", "f(x), x"),
    "no tangent": (lambda: jax.grad(NO_TANGENT)(1.0), "rule of a `custom_jvp`", "slope * t"),
    "several numbers": (lambda: jax.grad(lambda w: w * 2)(W), "one number", "jax.jacrev"),
    "a pair": (lambda: jax.grad(pair)(W, X), "more than its loss", "has_aux=True"),
    "nothing": (lambda: jax.grad(nothing)(W, X), "returns nothing", "return the loss"),
    "no pair": (lambda: jax.grad(loss, has_aux=True)(W, X), "expects a pair", "leave out"),
    "argnums": (lambda: jax.grad(loss, argnums=2)(W, X), "`argnums` names", "from 0"),
    "by name": (lambda: jax.grad(loss)(w=W, x=X), "`argnums` names", "passed by name"),
    "text": (lambda: jax.grad(lambda p: p["w"] ** 2)({"w": 1.0, "k": "a"}), "no array", "settings"),
    "complex": (lambda: jax.grad(lambda w: jnp.exp(1j * w))(1.0), "a complex number", "holomorphic"),
    "weights": (lambda: jax.vjp(lambda w: jnp.sum(w), W)[1](W), "weights of another shape", "ones_like"),
    "structure": (lambda: jax.vjp(lambda w: (w, w), W)[1](W), "another structure", "jax.tree.map"),
    "no tuples": (lambda: jax.jvp(jnp.sin, W, W), "as tuples", "(x,)"),
    "direction": (lambda: jax.jvp(jnp.sin, (W,), (X,)), "another shape", "ones_like"),
    "vmap": (lambda: jax.vmap(jax.grad(loss))(W, X), "not equally long", "`None` in `in_axes`"),
    "float0": (
        lambda: 0.1 * jax.grad(lambda n: jnp.sum(W[n]), allow_int=True)(jnp.array([0])),
        "holds no numbers",
        "another argument",
    ),
    "a list": (lambda: jax.jit(loss, static_argnums=1)(W, [1]), "hashable", "pass a tuple"),
    "a value": (lambda: jax.grad(loss(W, X)), "its value is", "the function itself"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_is_explained_at_its_line(name):
    run, headline, fix = MISUSES[name]
    told = explain_misuse(raised(run))
    assert told is not None
    assert headline in told.headline
    assert fix in told.fix.text
    assert told.kind == "crash"
    assert told.span.line in {line for *_, line in run.__code__.co_lines()}


def test_a_misuse_is_an_entry_without_a_cause():
    (report,) = judged(lambda: raised(lambda: jax.grad(pair)(W, X)))
    assert (report.verdict.value, report.diagnostics) == ("missing", ())
    assert "has_aux=True" in report.reason


@pytest.mark.parametrize("wrapped", [jax.grad, lambda f: jax.jit(jax.grad(f)), jax.jacrev])
def test_a_function_that_returns_integers_is_told_where_it_makes_them(wrapped):
    (report,) = judged(lambda: raised(lambda: wrapped(largest)(W, X)))
    (cause,) = report.diagnostics
    assert (cause.kind, cause.severity) == ("discrete-op", "error")
    assert cause.span.line == largest.__code__.co_firstlineno + 1


def test_integers_given_to_a_compiled_gradient_are_told_at_the_call():
    def call():
        return jax.jit(jax.grad(loss))(jnp.array([1, 2]), X)

    (capture,) = captured(lambda: raised(call))
    assert capture.call.line == call.__code__.co_firstlineno + 1
    assert capture.sources[0].missing.kind == "integer-dtype"


def test_all_arguments_that_are_meant_are_named():
    capture = capture_before(raised(lambda: jax.grad(loss, argnums=(0, 2))(W, X)))
    assert capture.sources[0].name == "argnums=(0, 2)"


SHAPES = {
    "zeros": lambda n: jnp.zeros(n),
    "arange": lambda n: jnp.arange(n),
    "linspace": lambda n: jnp.linspace(0.0, 1.0, n),
    "one_hot": lambda n: jax.nn.one_hot(0, n),
    "nonzero": lambda n: jnp.nonzero(W * n),
    "slice": lambda n: W[:n],
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_traced_shape_is_no_call_of_float(name):
    with pytest.raises((TypeError, IndexError)) as caught:
        jax.jit(SHAPES[name])(2)
    told = explain(caught.value).diagnostic
    assert (told.kind, told.span.line) == ("left-framework", SHAPES[name].__code__.co_firstlineno)
    assert "static_argnums" in told.fix.text


def test_float_of_a_traced_array_is_no_shape():
    with pytest.raises(TypeError) as caught:
        jax.jit(lambda x: float(x))(2.0)
    assert "`float()`" in explain(caught.value).diagnostic.why


def test_jvp_of_integers_is_an_entry():
    capture = capture_before(raised(lambda: jax.jvp(jnp.sin, (jnp.array([1, 2]),), (W,))))
    assert capture.sources[0].missing.kind == "integer-dtype"


def test_an_exception_of_the_function_itself_is_no_misuse():
    assert explain_misuse(raised(lambda: jax.grad(lambda w: w + "a")(1.0))) is None
    assert explain(raised(lambda: int("x"))) is None


def test_what_an_array_that_is_changed_in_place_has_computed_is_said_to_be_out_of_sight():
    def doubled(x):
        ref = jax.new_ref(x)
        ref[...] = ref[...] + ref[...]
        return ref[...]

    reports = judged(lambda: (jax.grad(doubled)(3.0), jax.jit(jax.grad(doubled))(3.0)))
    assert [report.verdict.value for report in reports] == ["unverified"] * 2
    assert all("changed in place" in report.reason for report in reports)

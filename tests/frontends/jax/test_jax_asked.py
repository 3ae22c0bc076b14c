"""Calls that raise, numbers that leave, and derivatives that are asked for in other ways."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import pytest
from jax_runs import captured, judged


def refused(run):
    """The reports on a piece of a program that raises."""

    def caught():
        with pytest.raises(Exception):  # noqa: B017, PT011  # whatever it is, it is JAX's own
            run()

    return judged(caught)


def causes(report):
    return [(one.kind, one.severity) for one in report.diagnostics]


def test_numpy_on_a_tracer_is_a_missing_gradient_with_its_line():
    import numpy as np

    def f(x):
        return jnp.sum(np.sin(x))

    (report,) = refused(lambda: jax.grad(f)(jnp.ones(2)))
    assert report.verdict.value == "missing"
    assert causes(report) == [("left-framework", "error")]
    assert report.diagnostics[0].span.line == f.__code__.co_firstlineno + 1
    assert "jax.numpy" in report.diagnostics[0].fix.text


def test_reverse_mode_through_a_while_loop_names_the_loop():
    def f(a):
        s = a * 1.0
        return jax.lax.while_loop(lambda s: s < 9.0, lambda s: s * a, s)

    (report,) = refused(lambda: jax.grad(f)(2.0))
    assert causes(report) == [("no-gradient-registered", "error")]
    assert report.diagnostics[0].span.line == f.__code__.co_firstlineno + 2


def test_one_exception_is_one_entry_however_many_gradients_it_passes():
    def f(x):
        return float(x) * x

    reports = refused(lambda: jax.jit(jax.grad(jax.grad(f)))(jnp.float32(2.0)))
    assert [report.source for report in reports] == ["x"]


def test_a_loss_that_returns_more_is_told_of_has_aux():
    (report,) = refused(lambda: jax.grad(lambda w: (w**2, w))(1.0))
    assert "has_aux=True" in report.reason


def test_item_is_a_constant_and_said_so():
    def f(w):
        n = jnp.sum(w**2).item()
        return n * jnp.sum(w)

    (report,) = judged(lambda: jax.grad(f)(jnp.array([1.0, 2.5])))
    assert causes(report) == [("left-framework", "warning")]
    assert report.diagnostics[0].span.line == f.__code__.co_firstlineno + 1


def test_item_that_goes_nowhere_is_silent():
    def f(w):
        assert w[0].item() == 1.0
        return jnp.sum(w**2)

    (report,) = judged(lambda: jax.grad(f)(jnp.array([1.0, 2.5])))
    assert (report.verdict.value, causes(report)) == ("correct", [])


def test_calls_of_what_linearize_returned_are_judged():
    def run():
        _, f_jvp = jax.linearize(lambda x: jnp.abs(x) * jnp.sin(x), jnp.array([0.5, -1.0]))
        f_jvp(jnp.array([1.0, 0.0]))
        f_jvp(jnp.array([0.0, 1.0]))

    reports = judged(run)
    assert [report.verdict.value for report in reports] == ["correct", "correct"]
    assert [list(report.observed != 0) for report in reports] == [[True, False], [False, True]]


def test_what_debug_nans_stops_is_judged_nevertheless():
    def f(x):
        return jnp.sum(jnp.where(x > 1.0, jnp.sqrt(x), 2.0 * x))

    with jax.debug_nans(True):
        (report,) = refused(lambda: jax.grad(f)(jnp.array([0.0, 4.0])))
        (compiled,) = refused(lambda: jax.jit(jax.grad(f))(jnp.array([0.0, 4.0])))
    assert [("masked-branch", "error")] == causes(report) == causes(compiled)


def test_names_of_a_jvp_are_those_of_its_primals():
    y = jnp.float32(0.5)
    (report,) = judged(lambda: jax.jvp(jnp.sin, (y,), (y,)))
    assert report.source == "y"


def test_what_python_computes_in_a_hand_written_rule_is_heard():
    @jax.custom_vjp
    def scaled(x, s):
        return 2.0 * x * s - x**2 / 4 + 1

    scaled.defvjp(lambda x, s: (scaled(x, s), (x, s)), lambda res, g: (g * (2 * res[1] - res[0] / 2), None))
    gradient = jax.grad(scaled, argnums=(0, 1))
    for given in ((2.0, 3.0), (jnp.float32(2.0), jnp.float32(3.0))):
        reports = judged(partial(gradient, *given))
        assert [report.verdict.value for report in reports] == ["correct", "wrong"]


def test_python_numbers_come_back_as_they_do_without_us():
    @jax.custom_jvp
    def line(x):
        return 2 * x + 1

    line.defjvps(lambda t, y, x: 2 * t)

    def run():
        asked = jax.value_and_grad(lambda x: (line(x), [x, -line(x)]), has_aux=True)(1.5)
        return repr([asked, jax.jvp(line, (1.5,), (1.0,)), jax.vjp(line, 1.5)[0]])

    found = []
    captured(lambda: found.append(run()))
    assert found == [run()]


def test_what_math_computes_with_a_python_number_is_no_proof():
    @jax.custom_vjp
    def wave(x):
        return jnp.sin(x) + math.exp(x)

    wave.defvjp(lambda x: (wave(x), x), lambda x, g: (g * (jnp.cos(x) + math.exp(x)),))
    (report,) = judged(lambda: jax.grad(wave)(2.0))
    assert report.verdict.value == "unverified"
    assert "plain Python number" in report.reason

    ripple = jax.custom_jvp(lambda x: jnp.sin(x) + math.exp(x))
    ripple.defjvps(lambda t, y, x: t * (jnp.cos(x) + math.exp(x)))
    (report,) = judged(lambda: jax.jvp(ripple, (2.0,), (1.0,)))
    assert report.verdict.value == "unverified"
    assert "plain Python number" in report.reason


def test_the_second_derivative_of_a_hand_written_rule_that_stops():
    @jax.custom_vjp
    def cube(x):
        return x**3

    stop = jax.lax.stop_gradient
    cube.defvjp(lambda x: (x**3, x), lambda x, g: (3 * stop(x) ** 2 * g,))
    *_, report = judged(lambda: jax.grad(jax.grad(cube))(jnp.float32(2.0)))
    assert (report.verdict.value, float(report.reference)) == ("wrong", 12.0)
    assert causes(report)[0] == ("custom-gradient", "error")


def test_an_index_out_of_range_is_read_inside_and_has_no_gradient():
    ids = jnp.array([0, 2, 3])
    (report,) = judged(lambda: jax.grad(lambda t: jnp.sum(t[ids] ** 2))(jnp.array([1.0, 2.0, 3.0])))
    assert (report.verdict.value, list(report.reference)) == ("wrong", [2.0, 0.0, 12.0])
    assert causes(report) == [("framework-rule", "error")]
    assert report.diagnostics[0].headline.startswith("an index lies past the end")
    assert report.diagnostics[0].primary.label == "1 of 3 entries are read from outside"


@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_an_index_out_of_range_that_is_asked_for_by_its_mode(mode):
    """Both are the derivative of what they return: of the nearest entry, and of a constant."""
    ids = jnp.array([0, 2, 3])
    take = lambda t: jnp.sum(t.at[ids].get(mode=mode, fill_value=0.0) ** 2)
    (report,) = judged(lambda: jax.grad(take)(jnp.array([1.0, 2.0, 3.0])))
    assert (report.verdict.value, list(report.diagnostics)) == ("correct", [])


@pytest.mark.parametrize("order", [0, 1])
def test_a_table_that_is_read_at_computed_places_goes_along(order):
    """Between its entries it has a kink at each of them; read at one, it jumps."""
    table = jnp.arange(16.0).reshape(4, 4) ** 1.3

    def read(x):
        i = jnp.floor(x).astype(int)
        w = (x - i) * order
        return jnp.sum((1 - w) * table[1, i] * x + w * table[1, i + 1] * x)

    (report,) = judged(lambda: jax.grad(read)(jnp.array([1.0, 0.3])))
    assert report.verdict.value == "undefined"
    assert causes(report) == [(("jump", "kink")[order], "warning")]


def test_nothing_is_recorded_twice():
    assert len(captured(lambda: jax.grad(lambda x: x**2)(2.0))) == 1


def test_a_pullback_that_is_called_inside_of_something_traced_is_left_alone():
    def f(b):
        _, pull = jax.vjp(lambda x: 3.0 * x, jnp.ones(2))
        solve = jax.lax.custom_linear_solve(lambda v: pull(v)[0], b, lambda _, v: v / 3, symmetric=True)
        return jnp.sum(solve**2)

    plain = jax.grad(f)(jnp.array([1.0, 2.0]))
    reports = judged(lambda: jax.grad(f)(jnp.array([1.0, 2.0])))
    assert list(reports[-1].observed) == list(plain)
    assert reports[-1].verdict.value == "correct"


def test_a_gradient_of_gradients_inside_jit():
    def residual(p, x):
        return jax.grad(jax.grad(lambda p, x: jnp.tanh(p * x), 1), 1)(p, x)

    reports = judged(lambda: jax.jit(jax.grad(residual))(jnp.float32(0.7), jnp.float32(0.4)))
    assert {report.verdict.value for report in reports} == {"correct"}


def test_a_branch_that_was_not_taken_computed_no_gradient():
    def step(x):
        return jax.lax.cond(x > 0, lambda x: jax.grad(jnp.sin)(x), lambda x: jax.grad(jnp.cos)(x), x)

    reports = judged(lambda: jax.jit(step)(jnp.float32(1.0)))
    assert [report.verdict.value for report in reports] == ["correct"]


def test_a_library_between_is_no_reason_for_a_wrong_name():
    from jax.scipy.optimize import minimize

    def bowl(x):
        return jnp.sum((x - 1.0) ** 2)

    reports = judged(lambda: minimize(bowl, jnp.zeros(2), method="BFGS", options={"maxiter": 1}))
    assert {report.source for report in reports} == {"x"}
    assert {report.verdict.value for report in reports} == {"correct"}


def test_a_compiled_function_inside_an_eager_gradient():
    inner = jax.jit(lambda a: jax.grad(lambda b: b**3)(a))
    reports = judged(lambda: jax.grad(lambda x: inner(x) * 2.0)(jnp.float32(1.5)))
    assert {report.verdict.value for report in reports} == {"correct"}
    assert {float(report.observed) for report in reports} == {6.75, 18.0}


def test_a_python_number_that_a_loop_uses_is_followed():
    (report,) = judged(lambda: jax.grad(lambda x: jax.lax.fori_loop(0, 5, lambda _, a: a * x, 1.0))(1.1))
    assert report.verdict.value == "correct"


def test_hand_written_functions_are_given_python_numbers_as_they_are():
    seen = []

    @jax.custom_vjp
    def half(x):
        return x / 2

    def fwd(x):
        seen.append(x * 0.1)
        return x / 2, None

    half.defvjp(fwd, lambda _, g: (g / 2,))
    jax.grad(half)(0.7)
    judged(lambda: jax.grad(half)(0.7))
    assert seen == [0.7 * 0.1, 0.7 * 0.1]
    assert {isinstance(one, float) for one in seen} == {True}


_IMPLICIT = """
import jax

@jax.custom_vjp
def root(a, b):
    return a / b

def backward(kept, g):
    pull = jax.vjp(lambda a, b: a / b, *kept)[1]
    return pull(g)

root.defvjp(lambda a, b: (root(a, b), (a, b)), backward)
"""


def test_a_library_that_asks_in_a_rule_asks_for_its_own_arguments(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "implicit_roots.py").write_text(_IMPLICIT, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    from implicit_roots import root

    reports = judged(lambda: jax.grad(lambda theta: root(theta, theta + 1.0))(jnp.float32(2.0)))
    assert {report.source for report in reports} == {"theta", "a", "b"}
    assert {report.verdict.value for report in reports} == {"correct"}


def test_a_gradient_inside_a_loop_of_eager_code_stands_at_its_own_line():
    def body(w, _):
        return w - 0.1 * jax.grad(lambda v: jnp.sum(v**4))(w), None

    (report,) = judged(lambda: jax.lax.scan(body, jnp.ones(2), None, length=2))
    assert (report.call.line, report.source) == (body.__code__.co_firstlineno + 1, "w")

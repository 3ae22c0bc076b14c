"""The derivative of a program is a program: values, orders, dtypes and the record of its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import derive, gradient, jacobian, vjp
from gradproof.engine.run import run
from gradproof.ir.program import prune
from gradproof.ir.verify import verify

from ..small import jvp, observed, program_of, total


def _network(m: Any, x: Any, w: Any) -> Any:
    return total(m, m.tanh(m.matmul(x, w)))


X, W = np.array([[0.5, -1.0], [0.25, 2.0]]), np.array([[1.0, 0.5], [-0.75, 0.125]])


def test_the_gradient_program_holds_the_gradient() -> None:
    derived = derive(program_of(_network, X, W))
    slope = 1.0 - np.tanh(X @ W) ** 2
    np.testing.assert_allclose(observed(derived)[0], slope @ W.T, rtol=1e-14)
    np.testing.assert_allclose(observed(derived)[1], X.T @ slope, rtol=1e-14)
    verify(derived.program)


@pytest.mark.parametrize("domain", [Ieee(), BallDomain64(), BallDomain(200)], ids=lambda d: d.name)
def test_running_the_gradient_program_and_differentiating_the_run_agree(domain: Any) -> None:
    program = program_of(_network, X, W)
    direct = gradient(domain, program)
    through = run(domain, derive(program).program).outputs()
    for one, other in zip(direct, through):
        np.testing.assert_allclose(domain.leave(one)[0], domain.leave(other)[0], rtol=1e-14)


def test_derivatives_of_derivatives_are_those_of_the_power() -> None:
    program = program_of(lambda m, x: m.integer_power(x, exponent=5), 1.5)
    for expected in (5 * 1.5**4, 20 * 1.5**3, 60 * 1.5**2, 120 * 1.5):
        program = derive(program).program
        assert float(program[program.outputs[0]].value) == pytest.approx(expected, rel=1e-14)
        program = prune(program, program.outputs)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_have_the_dtype_of_their_source(dtype: str) -> None:
    def function(m: Any, x: Any) -> Any:
        wide = m.cast(m.select(m.greater(x, m.zeros(())), m.exp(x), m.zeros(())), dtype="float64")
        return total(m, m.square(wide))

    derived = derive(program_of(function, [0.5, -0.25], dtype=dtype))
    assert observed(derived)[0].dtype == dtype


def test_a_zero_in_a_rule_does_not_widen_a_gradient_on_the_way() -> None:
    derived = derive(
        program_of(
            lambda m, x: total(m, m.select(m.greater(x, m.zeros(())), x, m.zeros(()))), [0.5], dtype="float32"
        )
    )
    backward = [node for node in derived.program.nodes if node.phase == "backward" and node.op == "select"]
    assert {node.dtype for node in backward} == {"float32"}


def test_a_source_that_the_output_does_not_need_has_gradient_zero() -> None:
    derived = derive(program_of(lambda m, x, y: m.exp(x), 1.0, [2.0, 3.0]))
    assert observed(derived)[1].tolist() == [0.0, 0.0]


def test_pullbacks_name_the_op_and_what_went_in_and_came_out() -> None:
    program = program_of(lambda m, x, y: m.mul(x, m.exp(y)), 2.0, 0.5)
    derived = derive(program)
    by_op = {pullback.op: pullback for pullback in derived.pullbacks}
    assert set(by_op) == {"mul", "exp"}
    assert by_op["mul"].inputs == program[program.outputs[0]].inputs
    assert by_op["exp"].upstream == (by_op["mul"].results[1],)
    assert by_op["exp"].results == (derived.program.outputs[1],)


def test_forward_and_reverse_products_and_the_jacobian_agree() -> None:
    program = program_of(lambda m, x: m.exp(m.matmul(x, m.literal(W))), X)
    result = run(Ieee("float64"), program)
    (whole,) = jacobian(result)
    tangent, seed = np.arange(4.0).reshape(2, 2), np.array([[1.0, -2.0], [0.5, 3.0]])
    (pushed,) = jvp(result, [tangent])
    (pulled,) = vjp(result, [seed])
    np.testing.assert_allclose(pushed, np.einsum("abcd,cd->ab", whole, tangent), rtol=1e-13)
    np.testing.assert_allclose(pulled, np.einsum("abcd,ab->cd", whole, seed), rtol=1e-13)


def test_an_output_named_twice_counts_twice() -> None:
    program = program_of(lambda m, x: m.exp(x), 0.0)
    result = run(Ieee("float64"), program.with_outputs(program.outputs * 2))
    assert float(vjp(result, [np.ones(()), np.ones(())])[0]) == 2.0

"""Local errors, where they go, and whose they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.derive import derive
from gradproof.engine.rounding import local_errors
from gradproof.engine.run import run
from gradproof.ir.program import Program

from ..small import error_budget, program_of, push_errors


def _node(program: Program, op: str, place: int = 0) -> int:
    return [node.id for node in program.nodes if node.op == op][place]


def _deviation(program: Program) -> np.ndarray[Any, Any]:
    """Recorded minus true output."""
    domain = BallDomain(300)
    exact = run(domain, program).outputs()[0]
    with domain.active():
        return domain.leave(domain.enter(program[program.outputs[0]].value) - exact)[0]


def test_a_sum_loses_exactly_what_was_absorbed() -> None:
    program = program_of(lambda m, x: m.add(x, 1.0), np.float32(1e10))
    (error,) = local_errors(program).values()
    assert float(error) == -1.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ops_that_are_exact_or_only_move_entries_made_no_error(dtype: str) -> None:
    program = program_of(lambda m, x: m.mul(m.reshape(m.neg(x), shape=(1, 2)), 2.0), [0.1, 0.7], dtype=dtype)
    assert local_errors(program) == {}


def test_the_example_of_the_design_is_explained_to_seven_digits() -> None:
    program = derive(program_of(lambda m, x: m.sub(m.log(m.add(m.exp(x), 1.0)), x), np.float32(14.0))).program
    errors = local_errors(program)
    shares = error_budget(program, errors, [1.0])
    observed = float(_deviation(program))
    assert sum(shares.values()) == pytest.approx(observed, rel=1e-6)
    assert float(push_errors(program, errors)[program.outputs[0]]) == pytest.approx(observed, rel=1e-6)


def test_the_whole_error_is_put_on_the_addition_that_absorbed() -> None:
    def function(m: Any, x: Any) -> Any:
        return m.square(m.sub(m.add(m.mul(x, 1e10), 1.0), 1e10))

    program = derive(program_of(function, np.float32(1.0))).program
    shares = error_budget(program, local_errors(program), [1.0])
    assert shares[_node(program, "add")] / sum(shares.values()) == pytest.approx(1.0, abs=1e-6)


def test_errors_of_an_op_with_several_results_belong_to_its_items() -> None:
    program = program_of(
        lambda m, x: m.qr(x, np.array([[1, 1]]))[1], np.array([[3.0, 1.0], [1.0, 2.0]], np.float32)
    )
    errors = local_errors(program)
    assert {program[id].op for id in errors} == {"item"}
    predicted = push_errors(program, errors)[program.outputs[0]]
    np.testing.assert_allclose(predicted, _deviation(program), atol=1e-14)


def test_values_that_are_not_finite_have_no_error() -> None:
    program = program_of(lambda m, x: m.exp(x), np.array([1000.0, 1.0]))
    assert local_errors(program) == {}


def test_nodes_that_the_outputs_do_not_need_are_left_out() -> None:
    def function(m: Any, x: Any) -> Any:
        m.exp(x)
        return m.log(x)

    program = program_of(function, np.float32(0.3))
    assert {program[id].op for id in local_errors(program)} <= {"log"}


def test_weights_choose_the_entry_whose_error_is_shared_out() -> None:
    program = program_of(lambda m, x: m.exp(x), np.array([0.1, 0.7], np.float32))
    errors = local_errors(program)
    (error,) = errors.values()
    for place in (0, 1):
        shares = error_budget(program, errors, [np.eye(2)[place]])
        assert sum(shares.values()) == pytest.approx(float(error[place]), rel=1e-12)


def _large(scale: float) -> Program:
    """More numbers than are followed in float64, in arrays of more than one block."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(300, 400)), rng.normal(size=(400, 500)) / 20

    def function(m: Any, x: Any, w: Any) -> Any:
        return m.mul(m.tanh(m.add(m.matmul(x, w), 0.25)), np.float32(scale))

    return program_of(function, x, w, dtype="float32")


@pytest.mark.parametrize("scale", [1.0, 1e-30])
def test_errors_of_large_programs_are_explained_block_by_block_and_at_any_scale(scale: float) -> None:
    program = _large(scale)
    errors = local_errors(program)
    output = program.outputs[0]
    exact = run(BallDomain64(), program).outputs()[0].mid
    observed = np.asarray(program[output].value, np.float64) - exact
    predicted = push_errors(program, errors)[output]
    assert predicted.dtype == (np.float32 if scale == 1.0 else np.float64)
    np.testing.assert_allclose(predicted, observed, rtol=1e-3, atol=1e-3 * np.abs(observed).max())
    weights = [np.sign(observed)]
    assert sum(error_budget(program, errors, weights).values()) == pytest.approx(
        np.abs(observed).sum(), rel=1e-3
    )

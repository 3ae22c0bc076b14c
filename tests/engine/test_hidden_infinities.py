"""A zero that hides an unbounded slope is told from a zero that stands for a branch not taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.hidden_infinities import absorbed
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options


def _program(function: Callable[..., Any], *values: Any) -> Program:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    inputs = [Traced(m, builder.input(np.asarray(value)), np.asarray(value)) for value in values]
    return builder.build([function(m, *inputs).id])


def _norm(m: Any, x: Any) -> Any:
    return m.sqrt(m.sum(m.mul(x, x), axes=(0,)))


def _squared_norm(m: Any, x: Any) -> Any:
    return m.square(_norm(m, x))


def _masked_root(m: Any, x: Any) -> Any:
    return m.sum(m.select(m.greater(x, m.constant(np.ones(()))), m.sqrt(x), m.zeros(())), axes=(0,))


def _first_root(m: Any, x: Any) -> Any:
    return m.reshape(m.strided_slice(m.sqrt(x), begin=(0,), end=(1,), stride=(1,)), shape=())


def _weighted_root(m: Any, x: Any) -> Any:
    return m.sum(m.mul(m.constant(np.array([1.0, 0.0])), m.sqrt(x)), axes=(0,))


def _square(m: Any, x: Any) -> Any:
    return m.sum(m.integer_power(x, exponent=2), axes=(0,))


@pytest.mark.parametrize("domain", [BallDomain64(), BallDomain(128)], ids=lambda domain: domain.name)
@pytest.mark.parametrize("function", [_norm, _squared_norm])
def test_a_zero_by_value_hides_an_unbounded_slope(function: Callable[..., Any], domain: Any) -> None:
    program = _program(function, [0.0, 0.0])
    masks = absorbed(run(domain, program), program.inputs)
    assert masks[program.inputs[0]].tolist() == [True, True]


@pytest.mark.parametrize("domain", [BallDomain64(), BallDomain(128)], ids=lambda domain: domain.name)
@pytest.mark.parametrize("function", [_masked_root, _first_root, _weighted_root, _square])
def test_a_zero_by_structure_is_a_zero(function: Callable[..., Any], domain: Any) -> None:
    program = _program(function, [4.0, 0.0])
    assert absorbed(run(domain, program), program.inputs) == {}


def test_only_the_entries_behind_the_slope_are_unknown() -> None:
    program = _program(lambda m, x, y: _norm(m, x) + m.sum(y, axes=(0,)), [0.0, 0.0], [1.0, 0.0])
    assert list(absorbed(run(BallDomain64(), program), program.inputs)) == [program.inputs[0]]


@pytest.mark.parametrize(
    ("function", "verdict"),
    [(_norm, Verdict.UNDEFINED), (_squared_norm, Verdict.CORRECT), (_masked_root, Verdict.CORRECT)],
)
def test_a_gradient_of_zero_is_correct_only_where_zero_is_the_derivative(
    function: Callable[..., Any], verdict: Verdict
) -> None:
    value = [0.0, 0.0] if function is not _masked_root else [4.0, 0.0]
    program = _program(function, value)
    observed = np.zeros(2) if function is not _masked_root else np.array([0.25, 0.0])
    judgement = judge(Evidence(program, program.inputs, (observed,)), Options())[0]
    assert judgement.verdict is verdict

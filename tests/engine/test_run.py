"""Running a program: recorded decisions, policies, and values in every domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.run import Policy, run
from gradproof.errors import InvalidProgram
from gradproof.ir.program import Builder

from ..small import program_of


def _relu(m: Any, x: Any) -> Any:
    return m.select(m.greater(x, m.zeros(())), x, m.mul(x, 0.0))


@pytest.mark.parametrize("domain", [Ieee(), BallDomain64(), BallDomain(100)], ids=lambda d: d.name)
def test_every_domain_gives_the_value(domain: Any) -> None:
    program = program_of(lambda m, x: m.exp(m.mul(x, 2.0)), [0.5, -1.0])
    mid, rad = domain.leave(run(domain, program).outputs()[0])
    np.testing.assert_allclose(mid, np.exp([1.0, -2.0]), rtol=1e-15)
    assert (rad <= 1e-14).all()


def test_decisions_are_taken_as_recorded_unless_asked_anew() -> None:
    program = program_of(_relu, [1.0, -1.0])
    moved = {program.inputs[0]: BallDomain64().enter(np.array([-1.0, 1.0]))}
    recorded = run(BallDomain64(), program, Policy(inputs=moved)).outputs()[0]
    anew = run(BallDomain64(), program, Policy(inputs=moved, redecide=True)).outputs()[0]
    assert recorded.mid.tolist() == [-1.0, 0.0]
    assert anew.mid.tolist() == [0.0, 1.0]


def test_a_policy_may_take_another_branch() -> None:
    program = program_of(_relu, [1.0, -1.0])
    decision = next(node.id for node in program.nodes if node.op == "greater")
    other = run(Ieee(), program, Policy(decisions={decision: np.array([False, True])})).outputs()[0]
    assert other.tolist() == [0.0, -1.0]


def test_an_opaque_node_is_worth_what_was_recorded() -> None:
    builder = Builder()
    x = builder.input(np.ones(2))
    y = builder.add("opaque:Sort", x, value=np.array([3.0, 4.0]))
    z = builder.add("neg", y, dtype="float64", shape=(2,))
    assert run(BallDomain64(), builder.build([z])).outputs()[0].mid.tolist() == [-3.0, -4.0]


def test_an_opaque_node_without_a_value_is_named() -> None:
    builder = Builder()
    y = builder.add("opaque:Sort", builder.input(np.ones(2)), dtype="float64", shape=(2,))
    with pytest.raises(InvalidProgram, match="opaque:Sort has no recorded value"):
        run(Ieee(), builder.build([y]))


def test_the_number_of_arguments_is_checked_before_a_library_may_misread_them() -> None:
    builder = Builder()
    x, y = builder.input(np.ones(2)), builder.input(np.ones(2))
    program = builder.build([builder.add("exp", x, y, dtype="float64", shape=(2,))])
    with pytest.raises(InvalidProgram, match="takes 1 arguments, not 2"):
        run(Ieee(), program)


def test_results_are_rounded_to_the_dtype_of_each_node() -> None:
    program = program_of(lambda m, x: m.cast(m.exp(x), dtype="float16"), np.float32(1.0))
    assert run(Ieee(), program).outputs()[0].dtype == np.float16

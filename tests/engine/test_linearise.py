"""Reverse and forward mode: untaken branches, unknown slopes, inner tangents, and ops without a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import gradient
from gradproof.engine.linearise import pull_back, push_forward
from gradproof.engine.run import run
from gradproof.errors import NoDerivative
from gradproof.ir.program import Builder

from ..small import jvp, program_of, total


def _masked_log(m: Any, x: Any) -> Any:
    return total(m, m.select(m.greater(x, m.zeros(())), m.log(x), m.zeros(())))


@pytest.mark.parametrize("domain", [BallDomain64(), BallDomain(128)], ids=lambda d: d.name)
@pytest.mark.parametrize("outside", [0.0, -1.0])
def test_a_branch_not_taken_contributes_exactly_nothing(domain: Any, outside: float) -> None:
    (found,) = gradient(domain, program_of(_masked_log, [4.0, outside]))
    mid, rad = domain.leave(found)
    assert (mid[1], rad[1]) == (0.0, 0.0)
    assert abs(mid[0] - 0.25) <= rad[0] + 1e-18


def test_a_decision_ends_the_path_of_a_gradient() -> None:
    program = program_of(
        lambda m, x, y: total(m, m.select(m.greater(x, y), y, m.mul(y, 2.0))), [1.0, -1.0], [0.0, 0.0]
    )
    by_x, by_y = gradient(Ieee("float64"), program)
    assert by_x.tolist() == [0.0, 0.0]
    assert by_y.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("op", ["add", "sub"])
def test_an_integer_that_is_added_stands_still(op: str) -> None:
    made = Builder()
    x = made.input(np.array([1.0, 0.25]))
    n = made.constant(np.array([1, 7]))
    y = made.add(op, x, n, dtype="float64", shape=(2,))
    (slope,) = jvp(run(Ieee("float64"), made.build([y])), [np.array([1.0, 3.0])])
    assert slope.tolist() == [1.0, 3.0]


def test_a_value_used_twice_gets_both_gradients() -> None:
    (found,) = gradient(Ieee("float64"), program_of(lambda m, x: m.mul(x, m.add(x, x)), 3.0))
    assert float(found) == 12.0


def test_gradients_of_inner_nodes_can_be_kept() -> None:
    program = program_of(lambda m, x: m.exp(m.mul(x, 2.0)), 0.0)
    result = run(Ieee("float64"), program)
    kept = pull_back(result, {program.outputs[0]: np.ones(())}, program.inputs, keep_all=True)
    assert set(kept) == {node.id for node in program.nodes if node.op != "constant"}


def test_tangents_of_inner_nodes_add_to_what_reaches_them() -> None:
    program = program_of(lambda m, x: m.exp(m.mul(x, 2.0)), 0.0)
    inner = next(node.id for node in program.nodes if node.op == "mul")
    moved = push_forward(
        run(Ieee("float64"), program), {program.inputs[0]: np.ones(()), inner: np.asarray(0.5)}
    )
    assert float(moved[program.outputs[0]]) == 2.5


def test_several_results_pull_back_together() -> None:
    matrix = np.array([[3.0, 1.0], [1.0, 2.0], [0.5, -1.0]])

    def function(m: Any, x: Any) -> Any:
        q, r = m.qr(x, np.array([[1, 1]]))
        return m.add(total(m, m.mul(q, m.literal(np.arange(6.0).reshape(3, 2)))), total(m, m.square(r)))

    program = program_of(function, matrix)
    domain = BallDomain(200)
    (found,) = gradient(domain, program)
    direction = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])
    (moved,) = jvp(run(domain, program), [domain.enter(direction)])
    with domain.active():
        pulled = sum(a * b for a, b in zip(found.flat, domain.enter(direction).flat))
        assert abs(float((pulled - moved[()]).mid())) <= 1e-50


def test_an_op_without_a_rule_is_named_with_its_place() -> None:
    builder = Builder()
    x = builder.input(np.ones(()))
    program = builder.build([builder.add("opaque:Secret", x, value=np.ones(()))])
    with pytest.raises(
        NoDerivative, match=r"`Secret` has no exact meaning here, and the gradient runs through it"
    ):
        gradient(Ieee("float64"), program)


def test_an_opaque_node_beside_the_path_does_no_harm() -> None:
    builder = Builder()
    x, y = builder.input(np.ones(())), builder.input(np.full((), 2.0))
    secret = builder.add("opaque:Secret", y, value=np.full((), 5.0))
    product = builder.add("mul", x, secret, value=np.full((), 5.0))
    found = gradient(Ieee("float64"), builder.build([product]), wrt=[x])
    assert float(found[0]) == 5.0

"""The guilty path leads from the fault to the gradient and touches nothing else."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.drawing.guilt import ways
from gradproof.diagnosis.figures import Figures, NodeView
from tests.diagnosis.drawing.drawn import figures_of
from tests.small import program_of

F32 = np.float32


def guilty(figures: Figures) -> list[NodeView]:
    assert figures.program is not None
    return [node for node in figures.program.nodes if node.id in figures.guilty]


def test_the_op_that_lost_the_digits_is_on_it_and_an_innocent_term_is_not() -> None:
    def loss(x):  # type: ignore[no-untyped-def]
        innocent = np.sin(x) * F32(0.5)
        lossy = (x * F32(1e10) + F32(1.0)) - F32(1e10)
        return lossy**2 + innocent

    figures = figures_of(loss, F32(1.0))
    ops = [node.op for node in guilty(figures)]
    assert ops[:2] == ["add", "sub"]
    assert not {"sin", "cos"} & set(ops)
    [largest] = [id for id, share in figures.shares.items() if abs(share) > 0.9]
    assert largest in figures.guilty


def test_it_is_connected_and_ends_in_the_gradient() -> None:
    figures = figures_of(lambda x: ((x * F32(1e10) + F32(1.0)) - F32(1e10)) ** 2, F32(1.0))
    nodes = guilty(figures)
    assert figures.program is not None
    assert nodes[-1] is figures.program.nodes[-1]
    for node in nodes[1:]:
        assert set(node.inputs) & figures.guilty


def test_where_a_nan_arose_the_path_begins() -> None:
    with np.errstate(all="ignore"):
        figures = figures_of(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0 * x)), np.array([4.0, 0.0]))
    nodes = guilty(figures)
    assert nodes
    assert all("not finite" in node.value for node in nodes)


def test_a_gradient_without_a_fault_has_none() -> None:
    assert figures_of(np.sin, 1.0).guilty == frozenset()


def test_a_way_is_a_shortest_one_and_what_leads_elsewhere_has_none() -> None:
    def function(m, x):  # type: ignore[no-untyped-def]
        short = m.sin(x)  # %1
        long = m.cos(m.exp(short))  # %2, %3
        m.tanh(short)  # %4, a dead end
        return m.add(short, long)  # %5

    program = program_of(function, 1.0)
    assert ways(program, [1], 5) == {1, 5}
    assert ways(program, [2], 5) == {2, 3, 5}
    assert ways(program, [4], 5) == frozenset()

"""Which entries an entry was computed from, op by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.diagnosis.flow import Place, feeding, operand, trail
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program


def _program(function: Callable[..., Any], *values: Any) -> Program:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    inputs = [Traced(m, builder.input(np.asarray(value)), np.asarray(value)) for value in values]
    return builder.build([function(m, *inputs).id])


def _fed(program: Program, index: tuple[int, ...]) -> dict[int, list[list[int]]]:
    return {id: np.argwhere(mask).tolist() for id, mask in feeding(program, Place(program.outputs[0], index))}


def test_an_entrywise_op_follows_broadcasting() -> None:
    program = _program(lambda m, a, b: m.mul(a, b), [[1.0], [2.0]], [3.0, 4.0, 5.0])
    assert _fed(program, (1, 2)) == {program.inputs[0]: [[1, 0]], program.inputs[1]: [[2]]}


def test_a_select_was_computed_from_the_branch_it_took() -> None:
    program = _program(
        lambda m, a, b: m.select(m.greater(a, m.constant(np.zeros(()))), a, b), [1.0, -1.0], [3.0, 4.0]
    )
    assert _fed(program, (1,)) == {program.inputs[1]: [[1]]}


def test_a_sum_was_computed_from_its_terms_also_where_they_are_zero() -> None:
    program = _program(lambda m, a: m.sum(a, axes=(1,)), [[0.0, 0.0], [1.0, np.inf]])
    assert _fed(program, (0,)) == {program.inputs[0]: [[0, 0], [0, 1]]}


def test_a_matrix_product_was_computed_from_a_row_and_a_column() -> None:
    program = _program(lambda m, a, b: m.matmul(a, b), np.zeros((2, 2)), np.zeros((2, 3)))
    assert _fed(program, (1, 2)) == {program.inputs[0]: [[1, 0], [1, 1]], program.inputs[1]: [[0, 2], [1, 2]]}


def test_a_reversed_slice_is_followed_to_its_entry() -> None:
    program = _program(lambda m, a: m.transpose(a, order=(1, 0)), np.arange(6.0).reshape(2, 3))
    assert _fed(program, (2, 1)) == {program.inputs[0]: [[1, 2]]}


def test_the_operand_of_an_entry_is_found_by_its_position() -> None:
    program = _program(lambda m, a, b: m.div(a, b), [1.0, 2.0], 4.0)
    assert operand(program, Place(program.outputs[0], (1,)), 1) == Place(program.inputs[1], ())


def test_a_trail_ends_where_the_fault_arose() -> None:
    program = _program(lambda m, a: m.sum(m.exp(m.log(a)), axes=(0,)), [1.0, -1.0])

    def bad(id: int) -> Any:
        return ~np.isfinite(np.asarray(program[id].value))

    with np.errstate(all="ignore"):
        way = trail(program, Place(program.outputs[0], ()), bad)
    assert [program[place.id].op for place in way] == ["log", "exp", "sum"]
    assert way[0].index == (1,)

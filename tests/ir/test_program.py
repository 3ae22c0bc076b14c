"""Programs: built with counted ids, looked up, pruned, and followed both ways."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.errors import InvalidProgram
from gradproof.ir.program import Builder, Program, ancestors, descendants, prune


def _chain() -> tuple[Program, dict[str, int]]:
    builder = Builder()
    ids = {"x": builder.input(np.ones(2), "x"), "y": builder.input(np.ones(2))}
    ids["e"] = builder.add("exp", ids["x"], value=np.exp(np.ones(2)))
    ids["c"] = builder.add("less", ids["x"], ids["y"], value=np.array([False, False]))
    ids["s"] = builder.add("select", ids["c"], ids["e"], ids["y"], value=np.ones(2))
    ids["lone"] = builder.add("neg", ids["y"], value=-np.ones(2))
    return builder.build([ids["s"]]), ids


def test_dtype_and_shape_are_read_off_the_value() -> None:
    program, ids = _chain()
    assert (program[ids["e"]].dtype, program[ids["e"]].shape) == ("float64", (2,))
    assert program[ids["c"]].is_discrete
    assert program.names == {ids["x"]: "x"}


def test_a_node_without_value_needs_dtype_and_shape() -> None:
    with pytest.raises(ValueError, match="needs a value"):
        Builder().add("exp")


def test_ids_given_by_hand_are_not_given_again() -> None:
    builder = Builder()
    builder.add("constant", value=np.ones(()), id=7)
    assert builder.constant(np.ones(())) == 8


def test_an_unbound_id_is_named() -> None:
    program, _ = _chain()
    with pytest.raises(InvalidProgram, match="id 99 is not bound"):
        program[99]


def test_ancestors_are_all_that_a_value_was_computed_from() -> None:
    program, ids = _chain()
    assert ancestors(program, [ids["s"]]) == {ids[name] for name in ("x", "y", "e", "c", "s")}


def test_descendants_do_not_pass_through_decisions() -> None:
    program, ids = _chain()
    assert descendants(program, [ids["x"]]) == {ids["x"], ids["e"], ids["s"]}


def test_nothing_is_differentiated_by_a_decision() -> None:
    program, ids = _chain()
    assert descendants(program, [ids["c"]]) == set()


def test_pruning_keeps_ids_and_all_inputs() -> None:
    program, ids = _chain()
    pruned = prune(program, [ids["e"]])
    assert [node.id for node in pruned.nodes] == [ids["x"], ids["y"], ids["e"]]
    assert pruned.outputs == (ids["e"],)


def test_the_text_has_a_line_per_node_and_the_outputs() -> None:
    program, ids = _chain()
    lines = str(program).splitlines()
    assert len(lines) == len(program.nodes) + 1
    assert lines[0] == "%0: float64[2] = input()  # `x`, = 1.0 1.0"
    assert lines[-1] == f"return %{ids['s']}"

"""A program as one expression."""

import pytest

from gradproof.fixes.formula import Formula
from gradproof.fixes.render_term import Unwritten
from gradproof.ir.program import Node, Program


def squared(times: int) -> Program:
    """x squared again and again: every square is used twice by the next."""
    nodes = [Node(0, "input", (), "float64", ())]
    nodes += [Node(k, "mul", (k - 1, k - 1), "float64", ()) for k in range(1, times + 1)]
    return Program(tuple(nodes), (0,), (times,))


def test_what_is_used_twice_is_written_twice() -> None:
    assert Formula(squared(2), {0: "x"}, "numpy", "np").text(2) == "x * x * (x * x)"


def test_an_expression_that_doubles_with_every_step_is_given_up_at_once() -> None:
    with pytest.raises(Unwritten):
        Formula(squared(90), {0: "x"}, "numpy", "np").text(90)

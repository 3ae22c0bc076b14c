"""The program as a reader sees it."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.diagnosis.drawing import view
from gradproof.diagnosis.drawing.view import outline_of, value_text
from gradproof.ir.program import Builder, Node
from tests.small import program_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.array([1.0, 2.5]), "1.0 to 2.5"),
        (np.array([3.0, 3.0]), "all 3.0"),
        (np.array([1.0, np.nan, np.inf, 2.0]), "1.0 to 2.0; 2 of 4 not finite"),
        (np.array([np.nan, np.nan]), "2 of 2 not finite"),
        (np.array([True, False, True]), "true at 2 of 3"),
        (np.array(True), "true"),
        (np.array([4, 4000]), "4 to 4,000"),
        (np.array([7, 7]), "all 7"),
        (np.array(12345), "12,345"),
        (np.zeros((0, 3)), "empty"),
        (np.array([3 + 4j, 0]), "size 0.0 to 5.0"),
    ],
)
def test_a_value_is_a_few_words(value: np.ndarray, text: str) -> None:
    builder = Builder()
    builder.constant(value)
    assert value_text(builder.nodes[0]) == text


def test_a_value_that_was_not_recorded_is_empty_and_several_are_counted() -> None:
    assert value_text(Node(0, "sin", (), "float64", ())) == ""
    assert value_text(Node(0, "qr", (), "tuple", (), value=(np.ones(2), np.ones(2)))) == "2 arrays"


def test_of_a_long_program_the_middle_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_NODES", 6)

    def chain(m, x):  # type: ignore[no-untyped-def]
        for _ in range(10):
            x = m.sin(x)
        return x

    program = program_of(chain, 1.0)
    found = outline_of(program, {0: "w"}).view
    assert [node.id for node in found.nodes] == [0, 1, 2, 8, 9, 10]
    assert found.omitted == 5
    assert found.nodes[0].name == "w"


def test_an_outline_holds_no_large_array_and_shows_all_the_same() -> None:
    x = np.arange(1000.0).reshape(10, 100)
    program = program_of(lambda m, x: m.sum(m.sin(x), axes=(0, 1)), x)
    outline = outline_of(program, {})
    assert max(np.size(node.value) for node in outline.nodes) == 1
    assert [node.value for node in outline.view.nodes] == [value_text(node) for node in program.nodes]
    assert outline.view.nodes[0].value == "0.0 to 999.0"
    assert outline.view is outline.view

"""A `stop_gradient` that cuts terms out of a derivative is found, unless the user's own line asks for it."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.hidden_stop import find_hidden_stop
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ir.span import Span

SOURCES = {"train.py": "y = layer(x)\nz = x * tf.stop_gradient(x)\n"}


def _program(line: int, matters: bool) -> Program:
    """x * stop(x), or x * stop(1)."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = Traced(m, builder.input(np.array(3.0), "x"), np.array(3.0))
    m.at(Span("train.py", line), None)
    held = m.stop_gradient(x if matters else m.literal(np.array(1.0)))
    return builder.build([m.mul(x, held).id])


def _found(line: int, matters: bool) -> object:
    program = _program(line, matters)
    held = 3.0 if matters else 1.0
    return find_hidden_stop(program, program.inputs[0], np.array(held), SOURCES)


def test_one_inside_a_library_call_is_found_with_both_values() -> None:
    found = _found(1, True)
    assert found is not None
    assert (found.held, found.free) == (3.0, 6.0)  # type: ignore[attr-defined]


def test_one_that_the_users_line_spells_out_is_the_users_choice() -> None:
    assert _found(2, True) is None


def test_one_that_changes_nothing_is_not_worth_a_word() -> None:
    assert _found(1, False) is None

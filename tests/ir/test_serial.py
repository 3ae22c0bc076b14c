"""Programs survive JSON bit for bit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gradproof.engine.derive import derive
from gradproof.errors import InvalidProgram
from gradproof.ir.program import Builder
from gradproof.ir.serial import from_data, to_data
from gradproof.ir.span import Span
from gradproof.ir.text import render

from ..random_programs import random_program


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_and_their_gradients_come_back_as_they_were(seed: int) -> None:
    for program in (random_program(seed), derive(random_program(seed)).program):
        again = from_data(json.loads(json.dumps(to_data(program))))
        assert render(again) == render(program)
        for one, other in zip(again.nodes, program.nodes, strict=True):
            parts = zip(*(v if isinstance(v, tuple) else (v,) for v in (one.value, other.value)), strict=True)
            assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in parts)


def test_places_scopes_phases_and_complex_parameters_survive() -> None:
    builder = Builder()
    x = builder.input(np.array([np.nan, -0.0, 5e-324]), "x", Span("model.py", 3, 4, 3, 9, "loss"))
    y = builder.add("exp", x, value=np.ones(3), params={"k": (1, 2j, None, "a")}, phase="backward", scope=2)
    program = builder.build([y])
    again = from_data(json.loads(json.dumps(to_data(program))))
    assert again[x].span == program[x].span
    assert (again[y].phase, again[y].scope, again[y].params) == ("backward", 2, {"k": (1, 2j, None, "a")})
    assert again.names == {x: "x"}


def test_another_format_is_refused() -> None:
    with pytest.raises(InvalidProgram, match="format 1"):
        from_data({"format": 2})

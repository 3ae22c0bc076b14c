"""Sides of ties in programs too large for a look ahead in high precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.decisions import sides

from ..ops.entries import program, total
from .test_decisions import number, relu


def test_in_large_programs_an_open_tie_does_no_harm_if_nothing_depends_on_it() -> None:
    """Weights that meet only zeros (the padded border of an image) leave a relu at its tie for ever."""
    zeros = np.zeros(60_000)
    source = program(lambda m, w: total(m, relu(m, m.mul(w, m.literal(zeros)))), np.ones(60_000))
    assert sides(source, BallDomain64()).fact == "agree"


def test_in_large_programs_an_open_tie_that_matters_is_said() -> None:
    def function(m: Any, x: Any) -> Any:
        return total(m, m.select(m.greater(m.square(x), number(m, 0.0)), m.mul(x, 2.0), x))

    found = sides(program(function, np.zeros(60_000)), BallDomain64())
    assert found.fact == "cannot tell"
    assert found.reason is not None
    assert "a tie that no slope resolves" in found.reason

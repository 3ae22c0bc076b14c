"""What closes the ways of gradients that are zero is looked for once, for all sources of a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.diagnosis import dead_units

from ..small import program_of


def _dead(m: Any, w: Any, b: Any, v: Any) -> Any:
    hidden = m.add(m.matmul(np.ones((8, 4)), w), b)
    off = m.select(m.greater(hidden, 0.0), hidden, 0.0)
    return m.sum(m.matmul(off, v), axes=(0, 1))


def test_the_ways_are_swept_once_for_all_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(_dead, -np.ones((4, 8)), -np.ones(8), np.ones((8, 1)))
    sweeps: list[Any] = []
    sweep = dead_units._sweep
    monkeypatch.setattr(dead_units, "_sweep", lambda *given: sweeps.append(given) or sweep(*given))
    found = [dead_units.closed_at(program, program.inputs, k) for k in range(3)]
    assert len(sweeps) == 2  # with the doors as they are, and open
    assert [one is not None and one.is_layer for one in found] == [True, True, False]

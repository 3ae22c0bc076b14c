"""A gradient is asked for until it is decided, and no longer; zeros need the sizes of their terms, others do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gradproof.engine.refine import Enclosure, gradient_measure
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.judge import climb
from gradproof.judge.compare import fails_beside_zero
from gradproof.judge.exact_zeros import ExactZeros
from gradproof.options import Options

N = climb.SHARP_ENTRIES
LARGE = 1e18  # beside it a float64 ball knows nothing of numbers around one


def _easy_and_hard(n: int) -> Program:
    """sum a^2 + sum ((b + L) - L) b: the second needs more digits than a float64 has."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    numbers = np.linspace(0.5, 1.0, n)
    a, b = (Traced(m, builder.input(numbers, name), numbers) for name in "ab")
    hard = m.mul(m.sub(m.add(b, LARGE), LARGE), b)
    return builder.build([m.sum(m.add(m.square(a), hard), axes=(0,)).id])


@pytest.mark.parametrize(("n", "later"), [(N, [1]), (4, [0, 1])])
def test_what_is_within_its_tolerance_is_not_computed_with_more_digits(
    n: int, later: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[int]] = []

    def measure(wrt: Sequence[int]) -> Any:
        asked.append(list(wrt))
        return gradient_measure(wrt)

    monkeypatch.setattr(climb, "gradient_measure", measure)
    program = _easy_and_hard(n)
    right = 2.0 * np.linspace(0.5, 1.0, n)
    zeros = ExactZeros(program, program.inputs)
    refined, found = climb.Climb(program, program.inputs, [right, right], zeros, Options()).climb()
    assert asked[0] == list(program.inputs)
    assert asked[-1] == [program.inputs[k] for k in later]
    assert refined.decided
    assert [one.outcome for one in found if one] == ["within", "within"]
    for one in refined.enclosures:
        assert (np.abs(one.mid - right) <= one.rad + 1e-15).all()


def test_an_entry_that_is_not_zero_keeps_a_gradient_undecided_whatever_its_terms_are() -> None:
    observed, options = np.array([1.0, 0.0]), Options()
    wide, narrow = np.array([0.5, 1e-3]), np.array([1e-12, 1e-3])
    assert fails_beside_zero(observed, Enclosure(np.array([1.0, 0.0]), wide), "float64", options)
    assert not fails_beside_zero(observed, Enclosure(np.array([1.0, 0.0]), narrow), "float64", options)

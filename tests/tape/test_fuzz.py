"""Random programs over all functions of the tape: no gradient, no reference and no verdict that differences refute."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gradproof.judge.verdict import Verdict
from gradproof.tape import Missing

from .fuzzing import COMPLEX, REAL, Program, random_program, slope_along

CHUNK = 50
SMALL, NIGHTLY = 600, 8_000


def check(program: Program) -> str:
    gradient = program.asked()
    if isinstance(gradient, Missing):
        return "missing"
    rng = np.random.default_rng(program.seed)
    direction = rng.normal(size=program.point.shape)
    if np.iscomplexobj(program.point):
        direction = direction + 1j * rng.normal(size=program.point.shape)
    slope = slope_along(program, direction)
    if slope is None:
        return "unsettled"
    verdict = gradient.verdict
    off = np.abs(_along(gradient, direction) - slope[0])
    assert verdict in (Verdict.CORRECT, Verdict.INACCURATE, Verdict.UNVERIFIED), verdict
    # Also where no verdict is given: what the tape hands out must be the derivative.
    assert float(np.max(off)) <= slope[1], (verdict, off, slope)
    return str(verdict.value)


def _along(gradient: Any, direction: Any) -> Any:
    return np.real(np.conj(np.asarray(gradient)) @ direction)


def check_chunk(chunk: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        program = random_program(seed)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of NumPy are about its own edges
                found[check(program)] += 1
        except Exception as error:
            names = [step.name for step in program.steps]
            error.add_note(f"random_program({seed}): {names}, {program.how}, {program.point.dtype}")
            raise
    return found


@pytest.mark.parametrize("chunk", range(SMALL // CHUNK))
def test_no_gradient_and_no_verdict_is_refuted(chunk: int) -> None:
    found = check_chunk(chunk)
    # The checks must not pass because there is nothing to check.
    assert found["correct"] >= 0.6 * found.total(), found
    assert found["unsettled"] <= 0.2 * found.total(), found


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(SMALL // CHUNK, NIGHTLY // CHUNK))
def test_the_same_on_many_programs(chunk: int) -> None:
    check_chunk(chunk)


def test_programs_are_made_of_all_cases() -> None:
    assert len(REAL) > 300
    assert len(COMPLEX) > 250

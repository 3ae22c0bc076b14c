"""Many rows at once are the same as one row after the other, through the rule of every op."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.flint_library import library
from gradproof.domains.packed_ball import PackedBallDomain
from gradproof.engine.linearise import pull_back
from gradproof.engine.many import pull_back_rows
from gradproof.engine.run import run
from gradproof.errors import NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ops import Op, Sample
from tests.ops.sampling import op_samples, program_of

N_ROWS = 3
DOMAINS = {"ball64": BallDomain64, "arb": lambda: BallDomain(128)}
if library() is not None:
    DOMAINS["packed"] = PackedBallDomain


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True))
def test_rows_together_are_rows_alone(op: Op, sample: Sample, domain: str) -> None:
    program = program_of(op, sample)
    if any(not types.is_real(program[id].dtype) for id in (*program.inputs, *program.outputs[:1])):
        pytest.skip("rows are of real numbers")
    m = DOMAINS[domain]()
    try:
        result = run(m, program)
        alone = _alone(result, program.outputs[0], program.inputs)
    except (NoDerivative, NotSupported) as error:
        pytest.skip(str(error))
    weights = _weights(program[program.outputs[0]].shape)
    together = pull_back_rows(result, program.outputs[0], weights, program.inputs)
    with m.active():
        for id, one, rows in zip(program.inputs, together, alone):
            mid, rad = m.leave(one)
            assert mid.shape == (N_ROWS, *program[id].shape)
            for k, (own_mid, own_rad) in enumerate(rows):
                apart = np.abs(mid[k] - own_mid)
                assert bool((apart <= 4.0 * (rad[k] + own_rad) + 1e-300).all())
                assert bool((rad[k] <= 4.0 * own_rad + 1e-14 * np.abs(own_mid) + 1e-18).all())


def _weights(shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(0)
    return rng.integers(-4, 5, (N_ROWS, *shape)) / 4.0


def _alone(result: Any, target: int, wrt: Any) -> list[list[Any]]:
    found: list[list[Any]] = [[] for _ in wrt]
    for weight in _weights(result.program[target].shape):
        gradients = pull_back(result, {target: result.m.literal(weight)}, wrt)
        with result.m.domain.active():
            for rows, id in zip(found, wrt):
                rows.append(
                    result.m.domain.leave(gradients.get(id, result.m.zeros(result.program[id].shape)))
                )
    return found

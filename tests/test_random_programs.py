"""Random programs: balls enclose, rounding is predicted, and no verdict is false.

150 programs by default; the nightly size is 5,000, and `GRADPROOF_RANDOM_PROGRAMS` sets any other.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

from gradproof.engine.derive import derive
from gradproof.ir.text import render
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

from .program_checks import assert_balls_enclose, assert_verdict_is_true, predict
from .random_programs import random_program, sampled_ops

CHUNK = 50
DEFAULT, NIGHTLY = 150, 5000
COUNT = int(os.environ.get("GRADPROOF_RANDOM_PROGRAMS", str(DEFAULT)))


def _check_chunk(chunk: int) -> None:
    verdicts: Counter[Verdict] = Counter()
    sharp = predicted = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        program = random_program(seed)
        rng = np.random.default_rng(seed)
        try:
            assert_balls_enclose(program, rng)
            derived = derive(program)
            prediction = predict(derived, rng)
            judgements = assert_verdict_is_true(program, derived, Options(witness=True))
            assert not any("a fault of gradproof" in (one.reason or "") for one in judgements), judgements
            assert prediction is None or not prediction.is_first_order or prediction.holds, prediction
        except Exception as error:
            error.add_note(f"random_program({seed}):\n{render(program)}")
            raise
        predicted += prediction is not None
        sharp += prediction is not None and prediction.is_sharp
        verdicts.update(judgement.verdict for judgement in judgements)
    # The checks must not pass because there is nothing to check.
    assert predicted >= 0.4 * CHUNK
    assert sharp >= 0.6 * predicted
    assert verdicts[Verdict.CORRECT] > 0.8 * verdicts.total()
    assert verdicts[Verdict.UNVERIFIED] <= 0.05 * verdicts.total()


@pytest.mark.parametrize("chunk", range(max(COUNT // CHUNK, 1)))
def test_balls_enclose_rounding_is_predicted_and_no_verdict_is_false(chunk: int) -> None:
    _check_chunk(chunk)


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(COUNT // CHUNK, NIGHTLY // CHUNK))
def test_the_same_on_five_thousand_programs(chunk: int) -> None:
    _check_chunk(chunk)


def test_the_same_seed_gives_the_same_program() -> None:
    assert render(random_program(3)) == render(random_program(3))


def test_programs_cover_most_of_the_table() -> None:
    used = {node.op for seed in range(1500) for node in random_program(seed).nodes}
    named = set(sampled_ops())
    assert len(named) > 100
    assert len(used & named) >= 0.9 * len(named), sorted(named - used)

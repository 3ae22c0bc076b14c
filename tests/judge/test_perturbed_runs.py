"""Programs too deep for balls: what is measured in float64 covers the truth, and claims no more than it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.exact_product64 import NormedBallDomain64
from gradproof.engine.derive import gradient
from gradproof.engine.refine import entry_count
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.judge.climb import LARGE_ENTRIES
from gradproof.judge.deep import is_too_deep
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.perturbed_runs import shaken_gradients
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

from ..random_programs import random_program
from ..small import program_of

WIDTH, BATCH, DEPTH = 64, 128, 60


def _deep(m: Any, w: Any, x: Any) -> Any:
    for _ in range(DEPTH):
        x = m.add(x, m.tanh(m.matmul(x, w)))
    return m.sum(m.mul(x, x), axes=(0, 1))


@pytest.fixture(scope="module")
def deep() -> tuple[Any, np.ndarray[Any, Any]]:
    """A network whose balls are without bounds, and its gradient in float64."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(WIDTH, WIDTH)).astype("f") / 8
    program = program_of(_deep, w, rng.normal(size=(BATCH, WIDTH)).astype("f"), dtype="float32")
    assert entry_count(program) > LARGE_ENTRIES
    found = shaken_gradients(program, program.inputs[:1])
    assert found is not None
    return program, found[0][0].mid


def _judged(deep: tuple[Any, np.ndarray[Any, Any]], factor: float) -> Judgement:
    program, exact = deep
    (found,) = judge(
        Evidence(program, program.inputs[:1], ((exact * factor).astype("f"),)), Options(seconds=None)
    )
    return found


def test_a_gradient_too_deep_for_balls_is_measured_and_says_so(deep: Any) -> None:
    found = _judged(deep, 1.0)
    assert found.verdict is Verdict.CORRECT
    assert found.oracle == "float64"
    assert found.reason is not None and "too deep for a proof" in found.reason


def test_what_is_off_stays_unverified(deep: Any) -> None:
    found = _judged(deep, 1.01)
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "too deep" in found.reason


def test_how_far_it_is_off_is_said_by_entry_and_by_norm(deep: Any) -> None:
    program, exact = deep
    observed = exact.astype("f")
    observed.flat[np.argmin(np.abs(exact))] += np.float32(2e-5 * np.abs(exact).max())
    (found,) = judge(Evidence(program, program.inputs[:1], (observed,)), Options(seconds=None))
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "differ by up to 0.02 of their size and, by norm, by" in found.reason
    (_, _, by_norm) = found.reason.partition("by norm, by ")
    assert 1e-7 < float(by_norm.split(",")[0]) < 1e-4


def test_a_loss_that_cancels_is_not_deep(deep: Any) -> None:
    def cancels(m: Any, x: Any) -> Any:
        y = m.sum(m.exp(m.sin(x)), axes=(0,))
        return m.add(m.sub(y, y), m.mul(m.literal(np.asarray(2.0**-200)), y))

    domain = NormedBallDomain64()
    assert is_too_deep(run(domain, deep[0]))
    assert not is_too_deep(run(domain, program_of(cancels, np.linspace(0.0, 1.0, 9))))


def test_a_wrong_gradient_of_a_large_program_is_seen_where_the_loss_is_about_zero() -> None:
    x = np.linspace(-1.0, 1.0, LARGE_ENTRIES // 8).astype("f")

    def odd(m: Any, x: Any) -> Any:
        for _ in range(5):
            x = m.mul(m.sin(x), m.literal(np.asarray(1.125)))
        return m.sum(x, axes=(0,))

    program = program_of(odd, x, dtype="float32")
    (found,) = judge(Evidence(program, program.inputs, (np.full_like(x, 3.0),)), Options(seconds=None))
    assert found.oracle == "ball"
    assert found.comparison is not None and found.comparison.outcome == "beyond"


def test_the_error_bar_covers_the_truth_of_random_programs() -> None:
    covered = 0
    for seed in range(150):
        program = random_program(seed)
        try:
            truth = gradient(BallDomain(256), program)
            found = shaken_gradients(program, program.inputs)
        except GradproofError:
            continue
        if found is None:
            continue
        for exact, (enclosure, _) in zip(truth, found):
            mid, rad = BallDomain(256).leave(exact)
            known = np.isfinite(rad) & (enclosure.rad > 0.0)
            assert (np.abs(mid - enclosure.mid) <= enclosure.rad + rad)[known].all()
            covered += int(known.sum())
    assert covered > 300


def test_nothing_is_measured_at_a_tie() -> None:
    program = program_of(
        lambda m, x: m.sum(m.select(m.greater(x, m.zeros(())), x, m.zeros(())), axes=(0,)), np.zeros(3)
    )
    assert shaken_gradients(program, program.inputs) is None


def test_a_zero_that_is_a_sum_of_terms_counts_as_zero() -> None:
    def shifted(m: Any, b: Any, x: Any) -> Any:
        y = m.add(x, b)
        centred = m.sub(y, m.div(m.sum(y, axes=(0,)), m.literal(np.asarray(7.0))))
        return m.sum(m.tanh(centred), axes=(0,))

    program = program_of(shifted, np.asarray(0.3), np.linspace(-1.0, 2.0, 7))
    found = shaken_gradients(program, program.inputs[:1])
    assert found is not None
    ((enclosure, sizes),) = found
    assert enclosure.mid == 0.0 and enclosure.rad == 0.0
    assert sizes > 1.0


def test_a_long_iteration_whose_balls_grow_is_measured_however_small_it_is() -> None:
    def iterated(m: Any, x: Any) -> Any:
        y, more = m.tanh(x), m.exp(m.constant(np.float32(8.0)))
        less = m.sub(more, m.literal(np.float32(1.0)))
        for _ in range(120):
            y = m.sub(m.mul(y, more), m.mul(y, less))  # the same, in a ball 6,000 times as wide
        return y

    program = program_of(iterated, np.float32(0.75))
    options = Options(precision_cap_bits=256)

    def found(returned: float) -> Judgement:
        return judge(Evidence(program, program.inputs, (np.float32(returned),)), options)[0]  # type: ignore[arg-type]

    slope = 1 - np.tanh(0.75) ** 2
    right, other = found(slope), found(slope * 1.1)
    assert (right.verdict, right.oracle) == (Verdict.CORRECT, "float64")
    assert (other.verdict, other.oracle) == (Verdict.UNVERIFIED, "none")
    assert "too deep for a proof" in (other.reason or "")

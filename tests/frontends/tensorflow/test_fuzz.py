"""Random programs over all lowered ops: no reference and no verdict that differences of TensorFlow's own calls refute.

The small size runs with the suite; the nightly one has 12,000 programs (and the tape's fuzzer 8,000 more).
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tests.frontends.tensorflow.fuzzing import USABLE, Program, random_program, slope_along

from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.ir import types
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import TOLERANCES, Options

pytestmark = pytest.mark.tensorflow

CHUNK = 50
SMALL, NIGHTLY = 400, 12_000
COUNT = int(os.environ.get("GRADPROOF_FUZZ", str(SMALL)))


def check_chunk(chunk: int) -> Counter[str]:
    programs = [p for p in map(random_program, range(chunk * CHUNK, (chunk + 1) * CHUNK)) if p is not None]
    ends = []
    with observe(always) as seen:
        for program in programs:
            program.asked(tf.constant(program.point))
            ends.append(len(seen.calls))
    assert seen.failures == []
    found: Counter[str] = Counter()
    for program, end in zip(programs, ends, strict=True):
        try:
            found[_check(program, seen.calls[end - 1])] += 1
        except Exception as error:
            names = [step.name for step in program.steps]
            error.add_note(f"random_program({program.seed}): {names}, {program.how}, {program.point.dtype}")
            raise
    return found


def _check(program: Program, call: GradientCall) -> str:
    judgement, observed = _judged(call)
    rng = np.random.default_rng(program.seed)
    direction = rng.normal(size=program.point.shape)
    if np.iscomplexobj(program.point):
        direction = direction + 1j * rng.normal(size=program.point.shape)
    slope = _settled(program, direction, judgement)
    if slope is None:
        return "unsettled"
    if judgement.enclosure is not None and judgement.enclosure.is_bounded:
        off = _off(judgement.enclosure.mid, direction, slope)
        assert off <= 1.0, ("a wrong reference", off, judgement.verdict, slope)
    assert judgement.verdict is not Verdict.UNDEFINED, "called undefined where differences settle"
    assert "derivative rules give" not in (judgement.reason or ""), judgement.reason  # the slope witness
    if not np.isfinite(observed).all():
        assert judgement.verdict not in (Verdict.CORRECT, Verdict.WRONG)
        return judgement.verdict.value
    tolerance = max(TOLERANCES[types.dtype_name(observed)], 1e-7)
    along = _along(observed, direction)
    far = float(np.max(np.abs(along - slope[0])))
    size = float(np.max(np.abs(slope[0]))) + 1e-3
    if judgement.verdict is Verdict.CORRECT:
        assert far <= slope[1] + 30 * tolerance * size, ("called correct", far, size)
    if judgement.verdict is Verdict.WRONG:
        assert far > min(slope[1], 1e-6 * size), ("called wrong", far, size)
    return judgement.verdict.value


def _settled(program: Program, direction: Any, judgement: Judgement) -> tuple[Any, float] | None:
    """The slope by differences; where the reference contradicts it, only as far as other strides find the same."""
    slope = slope_along(program, direction)
    enclosure = judgement.enclosure
    is_known = slope is not None and enclosure is not None and enclosure.is_bounded
    if slope is None or not is_known or _off(enclosure.mid, direction, slope) <= 1.0:
        return slope
    others = [slope_along(program, direction, stride) for stride in (0.7, 4.0, 5.0)]
    if any(other is None for other in others):
        return None
    apart = max(float(np.max(np.abs(other[0] - slope[0]))) for other in others if other is not None)
    return slope[0], slope[1] + 3 * apart


def _along(gradient: Any, direction: Any) -> Any:
    return np.real(np.conj(np.asarray(gradient, np.result_type(gradient, direction))) @ direction)


def _off(mid: Any, direction: Any, slope: tuple[Any, float]) -> float:
    """How far a reference is off, in units of what differences may be off."""
    return float(np.max(np.abs(_along(mid, direction) - slope[0]))) / slope[1]


def _judged(call: GradientCall) -> tuple[Judgement, Any]:
    capture = to_capture(call)
    assert capture.failure is None, capture.failure
    evidence = Evidence(
        capture.program,
        tuple(source.node for source in capture.sources),
        tuple(source.observed for source in capture.sources),
        tuple(source.recorded for source in capture.sources),
        capture.gradient_program,
    )
    (judgement,) = judge(evidence, Options())
    return judgement, capture.sources[0].observed


@pytest.mark.parametrize("chunk", range(max(COUNT // CHUNK, 1)))
def test_no_reference_and_no_verdict_is_refuted(chunk: int) -> None:
    found = check_chunk(chunk)
    # The checks must not pass because there is nothing to check.
    assert found.total() >= CHUNK / 2
    assert found["correct"] + found["wrong"] >= 0.6 * found.total(), found
    assert found["unsettled"] <= 0.2 * found.total(), found


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(COUNT // CHUNK, NIGHTLY // CHUNK))
def test_the_same_on_many_programs(chunk: int) -> None:
    check_chunk(chunk)


def test_programs_are_made_of_nearly_all_samples() -> None:
    assert len(USABLE) > 300

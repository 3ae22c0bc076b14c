"""Every lowering that takes complex numbers is tried with them, against differences of TensorFlow itself.

Each sample of the contract has a twin: the same call at random complex numbers, wherever TensorFlow runs it. Whether
its gradient is right is decided by differences of calls of TensorFlow; the reference must agree with them, and the
verdict with the comparison. So nothing of ours takes part in what is expected.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tests.frontends.tensorflow.op_samples import SAMPLES
from tests.frontends.tensorflow.op_samples._sample import Sample
from tests.frontends.tensorflow.test_lower_contract import _seed

from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.frontends.tensorflow.lower import TABLE
from gradproof.frontends.tensorflow.lower._kinds import COMPLEX
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

pytestmark = pytest.mark.tensorflow

Array = np.ndarray[Any, Any]
# Step and agreement of the differences; those of complex64 carry the rounding of float32.
STEPS = {"complex128": (1e-3, 1e-6), "complex64": (3e-2, 2e-2)}
# What it does to the value, its gradient leaves out on purpose.
NOT_THE_SLOPE = {"StopGradient"}


def _complexified(sample: Sample) -> tuple[Array, ...] | None:
    """The inputs with random imaginary parts; None where no input is a real number, or all of them are complex."""
    rng = np.random.default_rng(1)
    wide = {"float64": np.complex128, "float32": np.complex64}
    if not any(x.dtype.name in wide for x in sample.inputs):
        return None
    return tuple(
        (x + 1j * rng.uniform(0.2, 0.6, x.shape) * rng.choice([-1, 1], x.shape)).astype(wide[x.dtype.name])
        if x.dtype.name in wide
        else x
        for x in sample.inputs
    )


def _runs(sample: Sample, inputs: tuple[Array, ...]) -> bool:
    """Whether TensorFlow has the op for complex numbers, and a gradient."""
    try:
        xs = [tf.constant(x) for x in inputs]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            ys = _numbers(sample.call(*xs))
        return any(g is not None for g in tape.gradient(ys, xs))
    except (TypeError, ValueError, LookupError, NotImplementedError, tf.errors.OpError):
        return False


def _numbers(results: Any) -> list[Any]:
    return [y for y in tf.nest.flatten(results) if y.dtype.is_floating or y.dtype.is_complex]


@cache
def twins() -> dict[str, tuple[tuple[Array, ...], list[Any], GradientCall]]:
    """Inputs, upstream gradients and the recorded call of every twin, and of the samples that are complex already."""
    inputs = {name: _complexified(sample) or sample.inputs for name, sample in SAMPLES.items()}
    inputs = {
        name: xs
        for name, xs in inputs.items()
        if any(np.iscomplexobj(x) for x in xs) and _runs(SAMPLES[name], xs)
    }
    rng = np.random.default_rng(0)
    seeds: list[list[Any]] = []
    with observe(always) as seen:
        for name, xs in inputs.items():
            tensors = [tf.constant(x) for x in xs]
            with tf.GradientTape() as tape:
                tape.watch(tensors)
                ys = _numbers(SAMPLES[name].call(*tensors))
            seeds.append([_seed(rng, y) for y in ys])
            tape.gradient(ys, tensors, output_gradients=seeds[-1])
    assert seen.failures == []
    return dict(zip(inputs, zip(inputs.values(), seeds, seen.calls, strict=True), strict=True))


def _target(name: str, xs: tuple[Array, ...], seeds: list[Any]) -> float:
    """The real number whose gradient these upstream gradients ask for."""
    ys = _numbers(SAMPLES[name].call(*map(tf.constant, xs)))
    return sum(float(np.sum(np.real(np.conj(s.numpy()) * y.numpy()))) for s, y in zip(seeds, ys, strict=True))


def _slope(name: str, xs: tuple[Array, ...], seeds: list[Any], k: int, direction: Array) -> float:
    """Along a direction, by differences of TensorFlow's own forward calls, extrapolated once."""

    def moved(step: float) -> float:
        return _target(name, (*xs[:k], (xs[k] + step * direction).astype(xs[k].dtype), *xs[k + 1 :]), seeds)

    step = STEPS[_dtype(xs)][0]
    wide, narrow = ((moved(h) - moved(-h)) / (2 * h) for h in (step, step / 2))
    return (4 * narrow - wide) / 3


def _dtype(xs: tuple[Array, ...]) -> str:
    return "complex64" if any(x.dtype == np.complex64 for x in xs) else "complex128"


def test_references_and_verdicts_agree_with_differences_of_tensorflow():
    rng = np.random.default_rng(2)
    n_right = n_wrong = 0
    for name in twins():
        if name in NOT_THE_SLOPE:
            continue
        for verdict, is_right in _verdicts(name, rng):
            assert verdict is not Verdict.CORRECT or is_right, name
            assert verdict is not Verdict.WRONG or not is_right, name
            n_right += verdict is Verdict.CORRECT
            n_wrong += verdict is Verdict.WRONG
    assert n_right > 200
    assert n_wrong > 20  # TensorFlow forgets to conjugate in some twenty ops


def _verdicts(name: str, rng: np.random.Generator) -> list[tuple[Verdict, bool]]:
    """The verdict on each gradient of a twin, and whether differences say that it is right."""
    xs, seeds, call = twins()[name]
    capture = to_capture(call)
    sources = capture.sources
    evidence = Evidence(
        capture.program,
        tuple(source.node for source in sources),
        tuple(source.observed for source in sources),
        tuple(source.recorded for source in sources),
        capture.gradient_program,
    )
    found = []
    for k, (source, judgement) in enumerate(zip(sources, judge(evidence, Options()), strict=True)):
        if source.observed is None or source.observed.dtype.kind not in "fc":
            continue
        direction = rng.normal(size=xs[k].shape) + 1j * rng.normal(size=xs[k].shape)
        direction = direction if np.iscomplexobj(xs[k]) else direction.real
        slope = _slope(name, xs, seeds, k, direction)
        if judgement.enclosure is not None:
            assert _agrees(judgement.enclosure.mid, direction, slope, _dtype(xs)), (name, k)
        found.append((judgement.verdict, _agrees(source.observed, direction, slope, _dtype(xs))))
    return found


def _agrees(gradient: Array, direction: Array, slope: float, dtype: str) -> bool:
    along = float(np.sum(np.real(np.conj(gradient) * direction)))
    return abs(along - slope) <= STEPS[dtype][1] * (abs(along) + abs(slope) + 1e-3)


def _met_with_complex_numbers() -> set[str]:
    return {
        event.op
        for _, _, call in twins().values()
        for event in call.events
        if any(str(getattr(x, "dtype", "")).startswith("complex") for x in event.inputs)
    }


def test_every_lowering_that_takes_complex_numbers_was_tried_with_them():
    assert sorted(COMPLEX - set(TABLE)) == []
    assert sorted(COMPLEX - _met_with_complex_numbers()) == []


def test_an_op_that_was_never_tried_with_complex_numbers_has_no_meaning_for_them():
    opaque = {"LogMatrixDeterminant", "Qr", "SelfAdjointEigV2", "Svd"}
    assert opaque & COMPLEX == set()
    for name, spelling in (("Qr", "tf.linalg.qr"), ("Svd", "tf.linalg.svd")):
        capture = to_capture(twins()[name][2])
        assert f"opaque:{spelling}" in {node.op for node in capture.program.nodes}

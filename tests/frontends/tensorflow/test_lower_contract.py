"""The contract of the lowerings: each sample is run in TensorFlow, recorded, lowered and proven.

What is lowered must compute what TensorFlow computed; TensorFlow's gradient must be judged as the table says; and the
backward ops, in exact arithmetic, must give the derivative of the forward ones, which shows that both are exact.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tests.frontends.tensorflow.op_samples import SAMPLES

from gradproof.domains.ball import BallDomain
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import gradient
from gradproof.engine.run import Policy, run
from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.coverage import coverage
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.judge.judge import Evidence, judge
from gradproof.options import Options

pytestmark = pytest.mark.tensorflow

ROUNDINGS = (
    2.0**9
)  # units of the last place that a sample may be off: sums of some dozen terms, and kernels in float32
BITS = 200


@cache
def calls() -> dict[str, GradientCall | None]:
    """All samples in one go: to begin an observation is what takes time.

    None where TensorFlow has no kernel on this machine: grouped convolutions need oneDNN, which it leaves off on
    older processors.
    """
    missing: dict[str, GradientCall | None] = {}
    while True:
        names = [name for name in SAMPLES if name not in missing]
        with observe(always) as seen:
            refused = _run_until_refused(names)
        if refused is None:
            assert seen.failures == []
            return {**dict(zip(names, seen.calls, strict=True)), **missing}
        missing[refused] = None


def _run_until_refused(names: list[str]) -> str | None:
    rng = np.random.default_rng(0)
    for name in names:
        xs = [tf.constant(x) for x in SAMPLES[name].inputs]
        try:
            with tf.GradientTape() as tape:
                tape.watch(xs)
                results = tf.nest.flatten(SAMPLES[name].call(*xs))
            ys = [y for y in results if y.dtype.is_floating or y.dtype.is_complex]
            tape.gradient(ys, xs, output_gradients=[_seed(rng, y) for y in ys])
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError) as error:
            if "not supported on CPU" not in str(error):
                raise
            return name
    return None


@cache
def recorded(name: str) -> tuple[GradientCall, Capture]:
    call = calls()[name]
    if call is None:
        pytest.skip("TensorFlow has no kernel for this on this machine")
    return call, to_capture(call)


def _seed(rng: np.random.Generator, y: Any) -> Any:
    """Random upstream gradients: no two entries may be confused."""
    parts = [rng.uniform(0.5, 1.5, y.shape) * rng.choice([-1, 1], y.shape) for _ in range(2)]
    return tf.constant(parts[0] + 1j * parts[1] if y.dtype.is_complex else parts[0], y.dtype)


def unit(dtype: str) -> float:
    return ROUNDINGS * types.unit_roundoff(dtype)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_op_of_a_sample_is_lowered(name: str):
    _, capture = recorded(name)
    assert capture.failure is None
    assert capture.faults == ()
    program = capture.gradient_program or capture.program
    assert {node.op for node in program.nodes if node.is_opaque} == set()


def largest(value: Any) -> float:
    """The size of the largest number; of several results, of all of them."""
    parts = [
        np.abs(part[np.isfinite(part)])
        for part in map(np.asarray, value if isinstance(value, tuple) else [value])
    ]
    return float(max(part.max(initial=0.0) for part in parts))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_lowered_program_computes_what_tensorflow_computed(name: str):
    _, capture = recorded(name)
    program = capture.gradient_program or capture.program
    values = run(Ieee(), program).values
    for node in program.nodes:
        if node.op in ("input", "constant") or node.is_discrete or node.dtype == types.TUPLE:
            continue
        mine, seen = np.asarray(values[node.id]), np.asarray(node.value)
        finite = np.isfinite(seen)
        size = max(largest(node.value), *(largest(program[id].value) for id in node.inputs))
        assert np.abs(mine[finite] - seen[finite]).max(initial=0.0) <= unit(node.dtype) * size + 1e-300, node


@pytest.mark.parametrize("name", SAMPLES)
def test_tensorflows_gradient_is_judged_as_the_table_says(name: str):
    _, capture = recorded(name)
    sources = capture.sources
    evidence = Evidence(
        capture.program,
        tuple(source.node for source in sources),
        tuple(source.observed for source in sources),
        tuple(source.recorded for source in sources),
        capture.gradient_program,
    )
    verdicts = tuple(judgement.verdict.value for judgement in judge(evidence, Options()))
    assert verdicts == tuple(SAMPLES[name].verdict(k) for k in range(len(verdicts)))


def enclosures(domain: BallDomain, arrays: Any) -> list[tuple[Any, Any]]:
    with domain.active():
        return [domain.leave(array) for array in arrays]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_backward_ops_mean_the_derivative_of_the_forward_ops(name: str):
    """Constants of TensorFlow's gradients, such as 2/sqrt(pi), are rounded; nothing else may differ."""
    _, capture = recorded(name)
    domain = BallDomain(BITS)
    right = [
        source
        for k, source in enumerate(capture.sources)
        if SAMPLES[name].verdict(k) == "correct" and source.recorded is not None and source.node is not None
    ]
    if not right or not SAMPLES[name].is_bounded:
        return
    backward = run(domain, capture.gradient_program)
    true = enclosures(domain, gradient(domain, capture.program, [source.node for source in right]))
    meant = enclosures(domain, [backward.values[source.recorded] for source in right])
    for source, (mid, rad), (other, its_rad) in zip(right, true, meant, strict=True):
        size = np.abs(mid).max(initial=0.0)
        assert (np.abs(mid - other) <= rad + its_rad + unit(source.dtype) * size).all()
        assert (rad + its_rad <= 1e-12 * size + 1e-300).all()


# A random sample moves with its parameters to first order only, by a rule; `test_lower_random.py` looks at that.
BY_RULE = {"StatelessParameterizedTruncatedNormal"}
FLAWED = [name for name, sample in SAMPLES.items() if "wrong" in sample.verdicts and name not in BY_RULE]


@pytest.mark.parametrize("name", FLAWED)
def test_where_tensorflow_is_wrong_differences_of_the_forward_show_it(name: str):
    """No derivative rule takes part: two runs of the forward program, a step of 2**-60 apart."""
    _, capture = recorded(name)
    domain = BallDomain(400)
    for k, source in enumerate(capture.sources):
        if SAMPLES[name].verdict(k) != "wrong":
            continue
        true = _slopes(domain, capture, source)
        place = int(np.argmax(np.abs(source.observed - true)))
        slope = sum(unit * _slope(domain, capture, source, place, unit) for unit in _units(source.observed))
        assert abs(slope - true.flat[place]) < 1e-9
        assert abs(slope - source.observed.flat[place]) > 1e-3


def _units(x: Any) -> tuple[complex, ...]:
    """The directions in which an entry can move."""
    return (1, 1j) if np.iscomplexobj(x) else (1,)


def _slope(domain: BallDomain, capture: Capture, source: Any, place: int, unit: complex) -> float:
    step = 2.0**-60
    ahead, behind = (_moved(domain, capture, source, place, sign * step * unit) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def _slopes(domain: BallDomain, capture: Capture, source: Any) -> Any:
    return enclosures(domain, gradient(domain, capture.program, [source.node]))[0][0]


def _moved(domain: BallDomain, capture: Capture, source: Any, place: int, by: complex) -> float:
    direction = np.zeros(source.shape, source.observed.dtype)
    direction.flat[place] = by
    value = np.asarray(capture.program[source.node].value)
    with domain.active():
        x = domain.enter(value) + domain.enter(direction)
    result = run(domain, capture.program, Policy(inputs={source.node: x})).outputs()[0]
    base = run(domain, capture.program).outputs()[0]
    with domain.active():
        return float(domain.leave(result - base)[0])


def test_every_covered_op_with_a_gradient_occurs_in_a_sample():
    """Those in loops and branches are met in `test_capture.py`."""
    met = {event.op for call in calls().values() if call is not None for event in call.events}
    covered, _, out_of_scope, _ = coverage()
    assert sorted(set(covered) - met - set(ELSEWHERE)) == []
    assert met & set(out_of_scope) == set()


ELSEWHERE = {
    **dict.fromkeys(("If", "While", "Case", "StatelessIf", "StatelessWhile", "StatelessCase"), "taken apart"),
    **dict.fromkeys(("ReadVariableOp", "ResourceGather", "ResourceGatherNd"), "needs a variable"),
    **dict.fromkeys(("SparseSparseMaximum", "SparseSparseMinimum"), "their gradients raise a TypeError"),
    "SparseDenseCwiseAdd": "its gradient raises NotImplementedError",
    "SparseMatrixMul": "its gradient raises NotImplementedError",
    "SparseMatrixSparseMatMul": "its gradient raises a ValueError",
    "DebugGradientIdentity": "has a gradient in graphs only",
}

"""Every op of the table, checked on its own samples against independent oracles."""

from __future__ import annotations

import inspect
from typing import Any

import flint
import numpy as np
import pytest
from flint import acb, arb

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.flint_library import library
from gradproof.domains.packed_ball import PackedBallDomain
from gradproof.engine.derive import vjp
from gradproof.engine.run import Policy, run
from gradproof.errors import NoDerivative, NotSupported
from gradproof.ir.program import Program
from gradproof.ops import TABLE, Op, Sample

from ..small import jvp
from .references import REFERENCES, reference_value
from .sampling import kind_of, op_samples, program_of

BITS = 400
STEP = arb(2) ** -100  # the difference quotient below is then right to about 2**-200
AGREEMENT = arb(2) ** -150


def _directions(program: Program, seed: int) -> list[np.ndarray[Any, Any]]:
    """Dyadic directions, so that moving along them is exact; complex inputs move in both parts."""
    rng = np.random.default_rng(seed)

    def draw(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        # Never 0: a direction that stands still would prove nothing.
        return rng.integers(1, 9, shape) * rng.choice([-1, 1], shape) / 8.0

    return [
        draw(program[id].shape)
        + (1j * draw(program[id].shape) if program[id].dtype.startswith("complex") else 0)
        for id in program.inputs
    ]


def _shifted(program: Program, directions: list[Any], step: arb) -> list[Any]:
    domain = BallDomain(BITS)
    with domain.active():
        inputs = {
            id: domain.enter(program[id].value) + step * domain.enter(direction)
            for id, direction in zip(program.inputs, directions)
        }
        inputs = {id: np.asarray(x, dtype=object) for id, x in inputs.items()}
    return list(run(domain, program, Policy(inputs=inputs)).outputs())


def _difference_quotient(program: Program, directions: list[Any]) -> list[Any]:
    ahead, behind = _shifted(program, directions, STEP), _shifted(program, directions, -STEP)
    with BallDomain(BITS).active():
        return [(a - b) / (2 * STEP) for a, b in zip(ahead, behind)]


def _assert_close(found: Any, expected: Any) -> None:
    with BallDomain(BITS).active():
        found, expected = (
            np.asarray(found, dtype=object).reshape(-1),
            np.asarray(expected, dtype=object).reshape(-1),
        )
        scale = max((abs(acb(entry)).abs_upper() for entry in expected), default=arb(0)) + 1
        for one, other in zip(found, expected, strict=True):
            assert abs(acb(one) - acb(other)).abs_upper() <= AGREEMENT * scale, (one, other)


@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True, kinds=True))
def test_forward_mode_equals_a_high_precision_difference(op: Op, sample: Sample) -> None:
    program = program_of(op, sample)
    directions = _directions(program, seed=1)
    result = run(BallDomain(BITS), program)
    found = _or_skip(lambda: jvp(result, [result.m.literal(direction) for direction in directions]))
    for one, other in zip(found, _difference_quotient(program, directions), strict=True):
        _assert_close(one, other)


def _or_skip(compute: Any) -> Any:
    """An op may have no rule for one of its arguments; it says so, and another sample covers the others."""
    try:
        return compute()
    except NoDerivative as error:
        assert "has no rule for the derivative by its" in str(error)
        pytest.skip(str(error))


@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True, kinds=True))
def test_reverse_mode_is_the_transpose_of_forward_mode(op: Op, sample: Sample) -> None:
    program = program_of(op, sample)
    directions = _directions(program, seed=2)
    result = run(BallDomain(BITS), program)
    rng = np.random.default_rng(3)
    seeds = [
        result.m.literal(
            rng.integers(-8, 9, program[id].shape) / 8.0
            + (
                1j * rng.integers(-8, 9, program[id].shape) / 8.0
                if program[id].dtype.startswith("complex")
                else 0
            )
        )
        for id in program.outputs
    ]
    gradients = _or_skip(lambda: vjp(result, seeds))
    tangents = jvp(result, [result.m.literal(direction) for direction in directions])
    with BallDomain(BITS).active():
        forward = sum((_inner(seed, tangent) for seed, tangent in zip(seeds, tangents)), arb(0))
        reverse = sum((_inner(g, result.m.literal(d)) for g, d in zip(gradients, directions)), arb(0))
    _assert_close(reverse, forward)


def _inner(a: Any, b: Any) -> Any:
    """The real inner product Re(conj(a) b), which both modes must agree on."""
    pairs = zip(np.asarray(a, dtype=object).reshape(-1), np.asarray(b, dtype=object).reshape(-1), strict=True)
    return sum(((acb(one).conjugate() * acb(other)).real for one, other in pairs), arb(0))


VECTORISED = [
    pytest.param(BallDomain64(), id="float64"),
    pytest.param(
        PackedBallDomain(),
        id="packed",
        marks=pytest.mark.skipif(library() is None, reason="the FLINT library cannot be called here"),
    ),
]


@pytest.mark.parametrize("domain", VECTORISED)
@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True))
def test_vectorised_balls_enclose_the_exact_value_and_gradient(op: Op, sample: Sample, domain: Any) -> None:
    program = program_of(op, sample)
    exact = run(BallDomain(BITS), program)
    try:
        balls = run(domain, program)
    except NotSupported:
        assert (
            any(program[node.id].dtype.startswith("complex") for node in program.nodes) or op.n_outputs > 1
        ), f"{op.name} is real, so the first rung must be able to run it"
        return
    pairs = list(zip(balls.outputs(), exact.outputs(), strict=True))
    ones = [np.ones(program[id].shape) for id in program.outputs]
    try:
        pairs += list(
            zip(
                vjp(balls, [balls.m.literal(one) for one in ones]),
                vjp(exact, [exact.m.literal(one) for one in ones]),
            )
        )
    except NoDerivative as error:
        assert "has no rule" in str(error)
    for ball, truth in pairs:
        mid, rad = balls.m.domain.leave(ball)
        with BallDomain(BITS).active():
            for m, r, t in zip(
                mid.reshape(-1), rad.reshape(-1), np.asarray(truth, dtype=object).reshape(-1), strict=True
            ):
                assert np.isfinite(r), (op.name, m, r, t)
                assert abs(arb(float(m)) - t).abs_lower() <= arb(float(r)), (op.name, m, r, t)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True))
def test_rounded_run_lies_within_its_error_bound(op: Op, sample: Sample, dtype: str) -> None:
    """The bound: a few roundings of the result, and of each input as far as the result depends on it."""
    from .bounds import assert_within_rounding

    assert_within_rounding(op, sample, dtype)


@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True, kinds=True))
def test_ball_encloses_the_60_digit_value_of_mpmath(op: Op, sample: Sample) -> None:
    if op.name not in REFERENCES:
        assert op.linear is not None, f"{op.name} needs an independent value in tests/ops/references"
        pytest.skip("a linear op is checked by the tests of its file, entry by entry")
    program = program_of(op, sample)
    found = run(BallDomain(BITS), program).outputs()
    for ball, value in zip(found, reference_value(op.name, sample), strict=True):
        with BallDomain(BITS).active():
            for one, digits in zip(np.asarray(ball, dtype=object).reshape(-1), value, strict=True):
                truth = acb(*map(arb, digits))
                assert abs(one - truth).abs_lower() <= abs(truth) * arb(10) ** -58 + arb(10) ** -70, (
                    one,
                    digits,
                )


@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True, kinds=True))
def test_balls_around_complex_numbers_hold_the_value_and_gradient(op: Op, sample: Sample) -> None:
    """Kernels that look at the sign or the order of their arguments must not do so with complex ones."""
    program = program_of(op, sample)
    if not any(program[id].dtype.startswith("complex") for id in program.inputs):
        return
    exact, domain = run(BallDomain(BITS), program), BallDomain(128)
    with domain.active():
        wide = {id: _around(domain.enter(program[id].value)) for id in program.inputs}
    balls = run(domain, program, Policy(inputs=wide))
    seeds = [np.ones(program[id].shape) for id in program.outputs]
    pairs = list(zip(balls.outputs(), exact.outputs(), strict=True))
    mine, true = (vjp(result, [result.m.literal(seed) for seed in seeds]) for result in (balls, exact))
    for ball, truth in (*pairs, *zip(mine, true, strict=True)):
        for one, other in zip(np.ravel(ball), np.ravel(truth), strict=True):
            assert acb(one).contains(acb(other)) or not acb(one).is_finite()


def _around(x: Any) -> Any:
    radius = acb(arb(0, 2.0**-60), arb(0, 2.0**-60))
    moved = np.frompyfunc(lambda entry: entry + radius if isinstance(entry, acb) else entry, 1, 1)(x)
    return np.asarray(moved, dtype=object)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in TABLE.values()])
def test_op_is_complete(op: Op) -> None:
    kinds = [op.slopes is not None, op.pullback is not None, op.margin is not None]
    assert sum(kinds) <= 1, "slopes, pullback and margin exclude each other"
    assert op.samples or not any(kinds), "an op with a rule needs a sample"
    assert op.kinds, "an op takes some kind of number"
    tried = {kind_of(sample) for sample in op.samples} | (
        {"complex"} & op.kinds if _can_be_complex(op) else set()
    )
    assert not any(kinds) or op.kinds <= tried, "a kind without a sample"


def _can_be_complex(op: Op) -> bool:
    """Whether a sample for real numbers stands for complex ones as well."""
    return any(kind_of(sample) == "real" and "dtype" not in sample.params for sample in op.samples)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in TABLE.values() if op.samples])
def test_every_attribute_of_an_op_is_tried(op: Op) -> None:
    """What has a default must occur with another value too, be it an attribute or a further input."""
    most = max(len(sample.inputs) for sample in op.samples)
    before = {op.forward: 1, op.pullback: 4, op.margin: 2, **dict.fromkeys(op.slopes or (), 2)}
    for rule in filter(None, before):
        for place, (name, parameter) in enumerate(inspect.signature(rule).parameters.items()):
            default = parameter.default
            is_label = name == "alike" and op.knows_alike  # what the engine knows of entries is no attribute
            if default is inspect.Parameter.empty or place - before[rule] < most or is_label:
                continue
            others = [sample for sample in op.samples if sample.params.get(name, default) != default]
            assert others, f"no sample of `{op.name}` has another `{name}` than {default}"


def test_precision_is_left_as_it_was() -> None:
    before = flint.ctx.prec
    with BallDomain(BITS).active():
        assert flint.ctx.prec == BITS
    assert flint.ctx.prec == before

"""What must hold of every program: balls enclose, rounding is as predicted, no verdict is false."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
from flint import arb
from mpmath import mpf

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.derive import Derived, gradient
from gradproof.engine.linearise import pull_back, push_forward
from gradproof.engine.rounding import LOCAL_BITS, local_errors, recorded_run
from gradproof.engine.run import run
from gradproof.errors import NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

from . import sixty_digits
from .sixty_digits import DIGITS
from .small import error_budget, push_errors

Array = np.ndarray[Any, Any]
SHARP_BITS = 320  # a reference far sharper than anything compared with it


def assert_balls_enclose(program: Program, rng: np.random.Generator) -> None:
    """Values and gradients of both ball domains hold what mpmath finds without any derivative rule."""
    truth = sixty_digits.evaluate(program)
    directions = [_one_entry(program, rng), _all_entries(program, rng)]
    slopes = [sixty_digits.directional_derivative(program, direction) for direction in directions]
    for domain in (BallDomain64(), BallDomain(128)):
        try:
            result = run(domain, program)
        except NotSupported:
            continue
        for node in program.nodes:
            if not node.is_discrete and node.dtype != "tuple":
                _assert_holds(domain.leave(result.values[node.id]), truth[node.id], (domain.name, node))
        gradients = [domain.leave(g) for g in gradient(domain, program)]
        for direction, (slope, slack) in zip(directions, slopes):
            _assert_gradient_holds(program, gradients, direction, slope, slack, domain.name)


def _one_entry(program: Program, rng: np.random.Generator) -> dict[int, Any]:
    """A step of one entry of one input, relative to its size."""
    id = program.inputs[rng.integers(len(program.inputs))]
    value = np.asarray(program[id].value, np.float64)
    place = rng.integers(max(value.size, 1))
    unit = (np.arange(value.size) == place).reshape(value.shape)
    return {id: _exact(np.where(unit, np.where(value == 0.0, 1.0, value), 0.0))}


def _all_entries(program: Program, rng: np.random.Generator) -> dict[int, Any]:
    return {
        id: _exact(rng.integers(-8, 9, program[id].shape) / 8.0 * np.asarray(program[id].value, np.float64))
        for id in program.inputs
    }


def _exact(array: Any) -> Any:
    return np.asarray(np.frompyfunc(lambda entry: mpf(float(entry)), 1, 1)(array), dtype=object)


def _assert_holds(ball: tuple[Array, Array], truth: Any, place: Any) -> None:
    with mpmath.workdps(DIGITS):
        slack = max(map(sixty_digits.size, np.asarray(truth, object).flat), default=mpf(0)) * mpf(10) ** -60
        for mid, rad, entry in zip(ball[0].flat, ball[1].flat, np.asarray(truth, object).flat, strict=True):
            if math.isfinite(rad):
                distance = abs(mpf(float(mid)) - entry)
                assert distance <= mpf(float(rad)) + slack, (place, mid, rad, entry)


def _assert_gradient_holds(
    program: Program, gradients: list[Any], direction: Any, slope: Any, slack: Any, name: str
) -> None:
    if not mpmath.isfinite(slope):
        return  # the difference passed through a point without a value
    with mpmath.workdps(DIGITS):
        middle, spread = mpf(0), mpf(0)
        for id, (mid, rad) in zip(program.inputs, gradients):
            for m, r, d in zip(
                mid.flat, rad.flat, np.asarray(direction.get(id, _exact(np.zeros(mid.shape)))).flat
            ):
                if d != 0:
                    middle, spread = middle + mpf(float(m)) * d, spread + mpf(float(r)) * abs(d)
        assert abs(middle - slope) <= spread + slack, (name, middle, spread, slope, slack)


@dataclass(frozen=True)
class Prediction:
    """A rounding error and what the linear passes say of it, along a random combination of the entries."""

    observed: float  # minus true
    predicted: float
    size: float  # the sum of the sizes of all shares
    bend: float  # how much the shares change if linearised at the true values, as a part of `size`
    unseen: float  # what local errors are too small to be known

    @property
    def is_first_order(self) -> bool:
        """Whether the program is straight enough over the distance that rounding moved it."""
        return self.bend <= 0.1

    @property
    def is_sharp(self) -> bool:
        """Whether the prediction would fail if it were off by a tenth."""
        return self.bend <= 0.01 and self.unseen <= 0.01 * self.size

    @property
    def holds(self) -> bool:
        # For a parabola the prediction is off by half of what the shares change between the two points.
        return abs(self.observed - self.predicted) <= (2.0 * self.bend + 2e-6) * self.size + self.unseen


def predict(derived: Derived, rng: np.random.Generator) -> Prediction | None:
    """None where a number is not finite, or a rule has no rule of its own (zeta by its order)."""
    recorded = derived.program
    true = _true_run(recorded)
    if true is None or not all(_is_finite(node.value) for node in recorded.nodes):
        return None
    weights = [rng.integers(-8, 9, recorded[id].shape) / 8.0 for id in recorded.outputs]
    try:
        return _prediction(recorded, _at(recorded, true), weights)
    except NoDerivative:
        return None


def _prediction(recorded: Program, true: Program, weights: list[Array]) -> Prediction | None:
    errors = local_errors(recorded)
    pushed = push_errors(recorded, errors)
    shares = error_budget(recorded, errors, weights)
    predicted = math.fsum(float(np.sum(w * pushed[id])) for id, w in zip(recorded.outputs, weights))
    size = math.fsum(map(abs, shares.values()))
    if size == 0.0 or not math.isfinite(size + predicted):
        return None  # nothing is to be explained, or it is beyond float64
    unseen = _total_size(recorded, _resolution(recorded), weights)
    noise = _noise_of_the_pass(recorded, errors)
    difference = abs(predicted - math.fsum(shares.values()))
    assert difference <= 1e-6 * size + noise, "the shares add up to the error"
    here = _adjoints(recorded, weights)
    others = [_adjoints(program, weights) for program in (true, _at(recorded, _unrounded(recorded, errors)))]
    moved = math.fsum(
        float(np.sum(np.maximum.reduce([np.abs((here[id] - there[id]) * errors[id]) for there in others])))
        for id in shares
    )
    observed = _observed_minus_true(recorded, weights)
    return Prediction(observed, predicted, size, moved / size, unseen + noise)


def _adjoints(program: Program, weights: list[Array]) -> dict[int, Any]:
    seeds: dict[int, Any] = {}
    for id, weight in zip(program.outputs, weights):
        seeds[id] = weight + seeds.get(id, 0.0)
    ids = [node.id for node in program.nodes]
    return pull_back(recorded_run(program), seeds, ids, keep_all=True)


def _total_size(program: Program, errors: dict[int, Array], weights: list[Array]) -> float:
    return math.fsum(map(abs, error_budget(program, errors, weights).values()))


def _noise_of_the_pass(program: Program, errors: dict[int, Array]) -> float:
    """What float64 itself may do to the errors it carries: a few units of the largest, which may cancel."""
    moved = push_forward(recorded_run(program), errors)
    parts = (part for x in moved.values() for part in (x if isinstance(x, tuple) else (x,)))
    return 2.0**-48 * max((float(np.max(np.abs(part), initial=0.0)) for part in parts), default=0.0)


def _resolution(program: Program) -> dict[int, Array]:
    """What the balls in which local errors are computed cannot see of them: a few units of the value."""
    found = {}
    for node in program.nodes:
        if types.is_real(node.dtype) and node.inputs:
            narrow = all(_is_narrow(program[id].dtype) for id in (node.id, *node.inputs))
            unit = 2.0**-50 if narrow else 2.0 ** (8 - LOCAL_BITS)
            found[node.id] = np.abs(np.asarray(node.value, np.float64)) * unit
    return found


def _is_narrow(dtype: str) -> bool:
    return not types.is_real(dtype) or types.precision_bits(dtype) <= 24


def _is_finite(value: Any) -> bool:
    return all(np.isfinite(part).all() for part in (value if isinstance(value, tuple) else (value,)))


def _true_run(program: Program) -> dict[int, Any] | None:
    """Midpoints of what every node would be without rounding; None where float64 cannot hold one."""
    result = run(BallDomain(SHARP_BITS), program)
    values: dict[int, Any] = {}
    for node in program.nodes:
        value = result.values[node.id]
        if node.is_discrete:
            values[node.id] = value
            continue
        parts = [result.m.domain.leave(part) for part in (value if isinstance(value, tuple) else (value,))]
        if not all(np.isfinite(rad).all() for _, rad in parts):
            return None
        values[node.id] = tuple(mid for mid, _ in parts) if isinstance(value, tuple) else parts[0][0]
    return values


def _at(program: Program, values: dict[int, Any]) -> Program:
    """The program with other recorded values."""
    nodes = tuple(
        node if node.is_discrete else replace(node, value=values[node.id], dtype=_wide(node.dtype))
        for node in program.nodes
    )
    return replace(program, nodes=nodes)


def _unrounded(program: Program, errors: dict[int, Array]) -> dict[int, Any]:
    """What every node would be without its own rounding: a slope may be written by its result, as -y / x of y = 1 / x,
    and between recorded and true values the roundings of both may cancel by chance.
    """
    return {
        node.id: np.asarray(node.value, np.float64) - errors[node.id] if node.id in errors else node.value
        for node in program.nodes
    }


def _wide(dtype: str) -> str:
    return dtype if dtype == "tuple" else "float64"


def _observed_minus_true(recorded: Program, weights: list[Array]) -> float:
    domain = BallDomain(SHARP_BITS)
    result = run(domain, recorded)
    with domain.active():
        total = arb(0)
        for id, w in zip(recorded.outputs, weights):
            difference = domain.enter(recorded[id].value) - np.asarray(result.values[id], object)
            total += sum(
                (arb(float(a)) * b for a, b in zip(w.flat, np.asarray(difference, object).flat)), arb(0)
            )
        return float(total.mid())


def assert_verdict_is_true(program: Program, derived: Derived, options: Options) -> tuple[Judgement, ...]:
    """No planted fault, so nothing is wrong; and what is called correct or inaccurate is."""
    observed = tuple(np.asarray(derived.program[id].value) for id in derived.program.outputs)
    judgements = judge(
        Evidence(program, derived.wrt, observed, derived.program.outputs, derived.program), options
    )
    domain = BallDomain(SHARP_BITS)
    truths = [domain.leave(g) for g in gradient(domain, program, derived.wrt)]
    for judgement, value, (mid, rad) in zip(judgements, observed, truths):
        assert judgement.verdict is not Verdict.WRONG, judgement
        # What is too small for a dtype is excused, but a gradient in float16 that is 0 throughout: it can be scaled.
        is_lost = str(value.dtype) == "float16" and not value.any()
        smallest = 0.0 if is_lost else types.SMALLEST[str(value.dtype)]
        error = _worst_error(value, mid, options.share_of_largest, smallest)
        tolerance = options.tolerance(str(value.dtype))
        if judgement.verdict is Verdict.CORRECT:
            # Only entries whose true value is zero are excused: they are measured against their terms.
            nonzero = np.abs(mid) > rad
            error = _worst_error(value[nonzero], mid[nonzero], options.share_of_largest, smallest)
            assert error <= tolerance * (1 + 1e-9), (judgement.verdict, error)
        if judgement.verdict is Verdict.INACCURATE:
            assert error > tolerance * (1 - 1e-9), (judgement, error)
    return judgements


def _worst_error(observed: Array, true: Array, share: float, smallest: float) -> float:
    if observed.size == 0:
        return 0.0
    distance = np.abs(observed.astype(np.float64) - true)
    scale = np.maximum(np.abs(true), share * np.abs(true).max())
    with np.errstate(all="ignore"):
        return float(np.max(np.where(distance <= smallest, 0.0, distance / scale)))

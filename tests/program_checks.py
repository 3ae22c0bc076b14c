"""What must hold of every program: balls enclose, predicted rounding is what was observed, no false verdict."""

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
from gradproof.engine.derive import Derived, derive, gradient
from gradproof.engine.rounding import error_budget, local_errors, push_errors
from gradproof.engine.run import run
from gradproof.errors import NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

from . import sixty_digits
from .sixty_digits import DIGITS

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
            for m, r, d in zip(mid.flat, rad.flat, np.asarray(direction.get(id, _exact(np.zeros(mid.shape)))).flat):
                if d != 0:
                    middle, spread = middle + mpf(float(m)) * d, spread + mpf(float(r)) * abs(d)
        assert abs(middle - slope) <= spread + slack, (name, middle, spread, slope, slack)


@dataclass(frozen=True)
class Prediction:
    """How well the linear passes explain a rounding error: all in units of the sum of the sizes of the shares."""

    applies: bool  # first order is enough here: the shares hardly depend on where the program is linearised
    residual: float = 0.0
    bend: float = 0.0


def check_prediction(derived: Derived, rng: np.random.Generator) -> Prediction:
    """Observed minus true, along a random combination of the entries, against the sum of the shares."""
    recorded = derived.program
    try:
        return _prediction(recorded, rng)
    except NoDerivative:
        return Prediction(False)  # the rule of a rare function (zeta by its order) has no rule of its own


def _prediction(recorded: Program, rng: np.random.Generator) -> Prediction:
    if not all(_is_finite(node.value) for node in recorded.nodes):
        return Prediction(False)
    true = _true_run(recorded)
    if true is None:
        return Prediction(False)
    weights = [rng.integers(-8, 9, recorded[id].shape) / 8.0 for id in recorded.outputs]
    errors = local_errors(recorded)
    shares = error_budget(recorded, errors, weights)
    elsewhere = error_budget(_at(recorded, true), errors, weights)
    total = math.fsum(map(abs, shares.values()))
    pushed = push_errors(recorded, errors)
    moved = math.fsum(float(np.sum(w * pushed[id])) for id, w in zip(recorded.outputs, weights))
    observed = _observed_minus_true(recorded, weights)
    unseen = error_budget(recorded, _resolution(recorded), weights)
    if not (math.isfinite(total) and math.isfinite(moved) and math.isfinite(observed)):
        return Prediction(False)
    total += math.fsum(map(abs, unseen.values()))
    if total == 0.0:
        assert abs(observed) <= 1e-300, observed
        return Prediction(True)
    bend = math.fsum(abs(shares[id] - elsewhere.get(id, 0.0)) for id in shares) / total
    assert abs(moved - math.fsum(shares.values())) <= 1e-6 * total, "the shares add up to what the errors cause"
    return Prediction(bend <= 0.1, abs(observed - moved) / total, bend)


def _resolution(program: Program) -> dict[int, Array]:
    """What float64 balls cannot see of a local error: a few units of float64 of the value."""
    return {
        node.id: np.abs(np.asarray(node.value, np.float64)) * 2.0**-50
        for node in program.nodes
        if types.is_real(node.dtype) and types.precision_bits(node.dtype) <= 24 and node.inputs
    }


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


def _wide(dtype: str) -> str:
    return dtype if dtype == "tuple" else "float64"


def _observed_minus_true(recorded: Program, weights: list[Array]) -> float:
    domain = BallDomain(SHARP_BITS)
    result = run(domain, recorded)
    with domain.active():
        total = arb(0)
        for id, w in zip(recorded.outputs, weights):
            difference = domain.enter(recorded[id].value) - np.asarray(result.values[id], object)
            total += sum((arb(float(a)) * b for a, b in zip(w.flat, np.asarray(difference, object).flat)), arb(0))
        return float(total.mid())


def assert_verdict_is_true(program: Program, derived: Derived, options: Options) -> tuple[Judgement, ...]:
    """No planted fault, so nothing is wrong; and what is called correct or inaccurate is."""
    observed = tuple(np.asarray(derived.program[id].value) for id in derived.program.outputs)
    judgements = judge(Evidence(program, derived.wrt, observed, derived.program.outputs, derived.program), options)
    domain = BallDomain(SHARP_BITS)
    truths = [domain.leave(g) for g in gradient(domain, program, derived.wrt)]
    for judgement, value, (mid, rad) in zip(judgements, observed, truths):
        assert judgement.verdict is not Verdict.WRONG, judgement
        error = _worst_error(value, mid, options.share_of_largest)
        tolerance = options.tolerance(str(value.dtype))
        if judgement.verdict is Verdict.CORRECT:
            assert error <= tolerance * (1 + 1e-9) or (np.abs(mid) <= rad + 1e-200).any(), (judgement, error)
        if judgement.verdict is Verdict.INACCURATE:
            assert error > tolerance * (1 - 1e-9), (judgement, error)
    return judgements


def _worst_error(observed: Array, true: Array, share: float) -> float:
    if observed.size == 0:
        return 0.0
    distance = np.abs(observed.astype(np.float64) - true)
    scale = np.maximum(np.abs(true), share * np.abs(true).max())
    with np.errstate(all="ignore"):
        return float(np.max(np.where(distance == 0.0, 0.0, distance / scale)))

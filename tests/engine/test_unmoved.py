"""Gradients that are exactly zero because a shift leaves the target as it is: found, and never claimed wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import gradient
from gradproof.engine.unmoved import is_unmoved
from gradproof.ir.program import Program
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

from ..small import program_of, total

RNG = np.random.default_rng(17)
X = RNG.normal(size=(5, 3, 4))
WEIGHTS = RNG.normal(size=(5, 3, 4))
BIAS = RNG.normal(size=3)
OF_SCORES = RNG.normal(size=(5, 4, 4))


def _weighted(m: Any, y: Any) -> Any:
    return total(m, m.mul(m.square(m.add(y, 0.25)), m.literal(WEIGHTS)))


def _normalised(m: Any, h: Any, axes: tuple[int, ...] = (0, 2)) -> Any:
    scale = m.rsqrt(m.add(_reduced(m, "var", h, axes), 1e-5))
    return _weighted(m, m.mul(m.sub(h, _reduced(m, "mean", h, axes)), scale))


def _reduced(m: Any, op: str, h: Any, axes: tuple[int, ...]) -> Any:
    kept = tuple(1 if axis in axes else n for axis, n in enumerate(h.shape))
    return m.reshape(getattr(m, op)(h, axes=axes), shape=kept)


def _shifted(m: Any, b: Any) -> Any:
    return m.add(m.literal(X), m.reshape(b, shape=(3, 1)))


def _by_sums(m: Any, h: Any, count: float) -> Any:
    """A mean as a sum and a quotient, a variance as the mean of squares."""
    centred = m.sub(h, m.div(_reduced(m, "sum", h, (0, 2)), count))
    var = m.div(_reduced(m, "sum", m.square(centred), (0, 2)), count)
    return _weighted(m, m.mul(centred, m.rsqrt(m.add(var, 1e-5))))


def _attention(m: Any, b: Any, axis: int) -> Any:
    """Scores of queries and keys, the keys with a bias: what it adds to all scores of a query goes in the softmax."""
    keys = m.transpose(_shifted(m, b), order=(0, 2, 1))  # 5 of 4 keys with 3 numbers each
    scores = m.matmul(keys, m.literal(X))
    queries = m.mul(m.transpose(scores, order=(0, 2, 1)), 0.5)
    return total(m, m.mul(m.softmax(queries, axes=(axis,)), m.literal(OF_SCORES)))


ZERO = {
    "batch normalisation": lambda m, b: _normalised(m, _shifted(m, b)),
    "scaled before it": lambda m, b: _normalised(m, m.neg(m.mul(_shifted(m, b), m.literal(BIAS[:, None])))),
    "mean by sum and quotient": lambda m, b: _by_sums(m, _shifted(m, b), 20.0),
    "reordered": lambda m, b: _normalised(
        m, m.transpose(m.transpose(_shifted(m, b), order=(1, 2, 0)), order=(2, 0, 1))
    ),
    "joined and cut again": lambda m, b: _normalised(
        m, m.reshape(m.reshape(_shifted(m, b), shape=(5, 12)), shape=(5, 3, 4)), axes=(0,)
    ),
    "softmax": lambda m, b: _weighted(m, m.softmax(_shifted(m, b), axes=(0, 2))),
    "logarithm of a softmax": lambda m, b: _weighted(m, m.log_softmax(_shifted(m, b), axes=(2,))),
    "softmax by hand": lambda m, b: _weighted(
        m, m.exp(m.sub(_shifted(m, b), _reduced(m, "logsumexp", _shifted(m, b), (0, 2))))
    ),
    "bias of keys": lambda m, b: _attention(m, b, 2),
}
NOT_ZERO = {
    "other axes": lambda m, b: _normalised(m, _shifted(m, b), axes=(0, 1)),
    "softmax over other axes": lambda m, b: _weighted(m, m.softmax(_shifted(m, b), axes=(1,))),
    "a mask between": lambda m, b: _normalised(m, m.mul(_shifted(m, b), m.literal(WEIGHTS))),
    "another count": lambda m, b: _by_sums(m, _shifted(m, b), 19.0),
    "squared before": lambda m, b: _normalised(m, m.square(_shifted(m, b))),
    "a way around": lambda m, b: m.add(_normalised(m, _shifted(m, b)), total(m, b)),
    "mean of another array": lambda m, b: _weighted(
        m, m.sub(_shifted(m, b), _reduced(m, "mean", m.mul(_shifted(m, b), 2.0), (0, 2)))
    ),
    "scores of another axis": lambda m, b: _attention(m, b, 1),
    "joined with what varies": lambda m, b: _weighted(
        m,
        m.sub(
            _shifted(m, b),
            m.reshape(m.mean(m.reshape(_shifted(m, b), shape=(5, 12)), axes=(1,)), shape=(5, 1, 1)),
        ),
    ),
}


def _size(program: Program) -> float:
    """The largest entry of the gradient, to a thousand bits."""
    domain = BallDomain(1000)
    mid, _ = domain.leave(gradient(domain, program)[0])
    return float(np.abs(mid).max())


@pytest.mark.parametrize("name", ZERO)
def test_a_shift_that_is_taken_away_again_is_found(name: str) -> None:
    program = program_of(ZERO[name], BIAS)
    assert is_unmoved(program, program.inputs[0])
    assert _size(program) < 1e-200


@pytest.mark.parametrize("name", NOT_ZERO)
def test_a_shift_that_is_left_is_not_called_zero(name: str) -> None:
    program = program_of(NOT_ZERO[name], BIAS)
    assert not is_unmoved(program, program.inputs[0])
    assert _size(program) > 1e-6


_BIASES = ((2, 1), (1, 2))


def _random_function(seed: int) -> Any:
    """Shifts, means taken away, axes moved, cut and joined, products, in a random order."""

    def function(m: Any, b: Any) -> Any:
        rng = np.random.default_rng(seed)
        batch = tuple(int(n) for n in rng.choice([1, 2, 3], 2))
        h = m.add(m.literal(rng.normal(size=(*batch, 2, 1))), m.reshape(b, shape=_BIASES[rng.integers(2)]))
        for _ in range(int(rng.integers(1, 6))):
            rank = len(h.shape)
            axes = tuple(int(k) for k in np.flatnonzero(rng.random(rank) < 0.5))
            kind = rng.integers(7)
            if kind == 0:
                h = m.sub(h, _reduced(m, "mean", h, axes))
            elif kind == 1:
                h = m.transpose(h, order=tuple(int(k) for k in rng.permutation(rank)))
            elif kind == 2:
                h = m.reshape(h, shape=(h.shape[0] * h.shape[1], *h.shape[2:])) if rank > 2 else h
            elif kind == 3:
                h = m.softmax(h, axes=axes) if axes else h
            elif kind == 4:
                h = m.mul(h, float(rng.choice([-0.5, 3.0])))
            elif kind == 5:
                h = m.matmul(h, m.literal(rng.normal(size=(h.shape[-1], 2))))
            else:
                h = m.sub(h, m.div(_reduced(m, "sum", h, axes), float(rng.integers(1, 5))))
        return total(m, m.mul(m.square(m.add(h, 0.25)), m.literal(rng.normal(size=h.shape))))

    return function


def test_what_is_called_zero_is_zero_in_random_programs() -> None:
    found = 0
    for seed in range(600):
        program = program_of(_random_function(seed), BIAS[:2])
        if is_unmoved(program, program.inputs[0]):
            found += 1
            assert _size(program) < 1e-200, seed
    assert found > 60


def test_the_bias_before_a_normalisation_costs_no_more_digits_than_float64_has() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(700, 3, 4)).astype(np.float32)

    def function(m: Any, b: Any) -> Any:
        h = m.add(m.literal(x), m.reshape(b, shape=(3, 1)))
        scale = m.rsqrt(m.add(_reduced(m, "var", h, (0, 2)), 1e-5))
        normal = m.mul(m.sub(h, _reduced(m, "mean", h, (0, 2))), scale)
        return total(m, m.mul(m.square(m.add(normal, 0.25)), m.literal(rng.normal(size=x.shape))))

    program = program_of(function, np.array([0.5, -0.25, 2.0], np.float32))
    noise = np.array([1e-6, 0.0, -2e-6], np.float32)
    (judged,) = judge(Evidence(program, program.inputs, (noise,)), Options(precision_cap_bits=53))
    assert judged.verdict is Verdict.CORRECT
    assert judged.enclosure is not None
    assert not judged.enclosure.mid.any()
    assert not judged.enclosure.rad.any()
    (off,) = judge(
        Evidence(program, program.inputs, (noise + np.float32(10.0),)), Options(precision_cap_bits=53)
    )
    assert off.verdict is not Verdict.CORRECT

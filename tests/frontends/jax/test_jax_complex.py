"""Every lowering that takes complex numbers is tried with them, against differences of JAX itself.

Whether a gradient is right is decided by differences of calls of JAX; the reference must agree with them, and the
verdict with the comparison. So nothing of ours takes part in what is expected.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from complex_samples import SAMPLES, inputs_of
from jax_runs import captured

from gradproof.audit.examine import examine
from gradproof.frontends.assemble.table import holds_complex
from gradproof.frontends.jax.lower import TABLE
from gradproof.frontends.jax.lower._kinds import COMPLEX
from gradproof.options import Options

STEP, AGREEMENT = 1e-3, 1e-6
# What they do to the value, their gradients leave out on purpose; in 32 bits a difference shows nothing.
NOT_THE_SLOPE = {"stop_gradient", "convert"}
Array = np.ndarray[Any, Any]


def _target(name: str, weights: list[Array], *xs: Any) -> Any:
    """A real number: the real part of the results, each entry with a complex weight of its own."""
    leaves = jax.tree.leaves(SAMPLES[name][0](*xs))
    return sum(jnp.sum(jnp.real(w * y)) for w, y in zip(weights, leaves, strict=True))


def _weights(name: str, xs: tuple[Array, ...]) -> list[Array]:
    rng = np.random.default_rng(7)
    leaves = jax.tree.leaves(jax.eval_shape(SAMPLES[name][0], *map(jnp.asarray, xs)))
    return [rng.normal(size=y.shape) + 1j * rng.normal(size=y.shape) for y in leaves]


def _slope(target: Any, xs: tuple[Array, ...], k: int, direction: Array) -> float:
    def moved(step: float) -> float:
        return float(target(*xs[:k], jnp.asarray(xs[k] + step * direction), *xs[k + 1 :]))

    wide, narrow = ((moved(h) - moved(-h)) / (2 * h) for h in (STEP, STEP / 2))
    return (4 * narrow - wide) / 3


def _compared(name: str) -> set[str]:
    """The verdicts of a sample, none of which differences contradict."""
    rng = np.random.default_rng(3)
    with jax.enable_x64(True):
        xs = inputs_of(name)
        target = partial(_target, name, _weights(name, xs))
        (capture,) = captured(lambda: jax.grad(target, argnums=tuple(range(len(xs))))(*map(jnp.asarray, xs)))
        verdicts = set()
        for k, (source, report) in enumerate(zip(capture.sources, examine(capture, Options()), strict=True)):
            direction = rng.normal(size=xs[k].shape) + 1j * rng.normal(size=xs[k].shape)
            slope = _slope(target, xs, k, direction)
            near = AGREEMENT * max(1.0, abs(slope))
            verdict = report.verdict.value
            if name not in NOT_THE_SLOPE:
                # JAX's gradient of a real number is the derivative by the real part minus i times the other.
                is_right = abs(float(np.sum(np.real(source.observed * direction))) - slope) <= near
                assert verdict != "correct" or is_right, (name, k)
                assert verdict != "wrong" or not is_right, (name, k)
                if report.reference is not None and verdict != "unverified":
                    by_us = float(np.sum(np.real(np.asarray(report.reference) * direction)))
                    assert abs(by_us - slope) <= near, (name, k)
            verdicts.add(verdict)
        return verdicts


@pytest.fixture(scope="module")
def outcome() -> tuple[dict[str, set[str]], set[str]]:
    """The verdicts of all samples, and the primitives that were lowered with complex numbers."""
    tried: set[str] = set()

    require_kind = TABLE.require_kind

    def noting(name: str, arguments: Any) -> None:
        require_kind(name, arguments)
        if holds_complex(arguments):
            tried.add(name)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", np.exceptions.ComplexWarning
        )  # a sample drops imaginary parts on purpose
        patch.setattr(TABLE, "require_kind", noting)
        return {name: _compared(name) for name in SAMPLES}, tried


def test_most_samples_are_proven_right_and_differences_agree(outcome):
    verdicts, _ = outcome
    assert sum(found == {"correct"} for found in verdicts.values()) >= 80
    assert "correct" in verdicts["angle"]


def test_every_lowering_that_takes_complex_numbers_was_tried(outcome):
    _, tried = outcome
    assert COMPLEX - tried == set()
    assert set(TABLE) >= COMPLEX


def test_a_lowering_that_was_never_tried_with_complex_numbers_refuses_them():
    with pytest.raises(NotImplementedError, match="erf of complex numbers"):
        TABLE["erf"](None, None, type("X", (), {"value": np.zeros(2, complex)})())

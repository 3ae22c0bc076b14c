"""Float64 arrays that JAX rounds to float32: told where that takes away what tells the numbers apart."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradproof as gp
from gradproof.audit.session import Session
from gradproof.diagnosis.report import Script
from gradproof.frontends.jax.observe import narrowed
from gradproof.judge.verdict import Verdict

TIMES = np.array([1.7e9 + 0.25, 1.7e9 + 0.5])


def notes(run):
    session = Session()
    session.start()
    try:
        run()
    finally:
        session.conclude(None)
        session.stop()
    return [note for note in session.report(Script("script.py")).notes if "float32" in note]


@pytest.mark.parametrize(
    "enter",
    [
        lambda: jnp.asarray(TIMES),
        lambda: jnp.array(TIMES),
        lambda: jax.jit(lambda t: t * 2)(TIMES),
        lambda: jax.grad(lambda w: jnp.sum(w * TIMES))(jnp.float32(1.0)),
        lambda: jnp.asarray(np.array([1e300, 1.0])),
        lambda: jnp.asarray(np.array([1e-100, 1e-90, 1e-80])),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_that_float32_cannot_tell_apart_are_told_at_their_line(enter):
    (note,) = notes(enter)
    assert note.startswith(f"{__file__}:{enter.__code__.co_firstlineno}: ")
    assert "jax_enable_x64" in note


def test_nothing_is_said_of_ordinary_numbers():
    def run():
        x = np.random.default_rng(0).normal(size=(1000, 3))
        jax.grad(lambda w: jnp.sum(jnp.tanh(jnp.asarray(x) @ w)))(jnp.array([0.1, 0.2, 0.3]))
        jnp.asarray([0.1, 0.2, 1e-3]), jnp.asarray(np.zeros(4)), jnp.asarray(np.linspace(0.0, 1.0, 50))

    assert notes(run) == []


def test_nothing_is_said_where_float64_is_kept():
    with jax.enable_x64(True):
        assert notes(lambda: jnp.asarray(TIMES)) == []


def gradient_of_float64(*numbers):
    jax.grad(lambda w: jnp.sum(w * np.array(numbers)))(jnp.float32(1.0))


def test_a_fault_of_ours_in_looking_does_not_reach_the_program(monkeypatch):
    def broken(x):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(narrowed, "what_is_lost", broken)
    with gp.watch() as report:
        gradient_of_float64(1.0, 2.0)
    assert report.worst is Verdict.CORRECT
    assert any("planted" in note for note in report.notes)


def test_looking_ends_after_so_many_arrays(monkeypatch):
    seen = []
    monkeypatch.setattr(narrowed, "MOST_LOOKS", 3)
    monkeypatch.setattr(narrowed, "what_is_lost", lambda x: seen.append(x) or "")
    with gp.watch():
        for k in range(10):
            gradient_of_float64(1.0, float(k))
    assert len(seen) == 3

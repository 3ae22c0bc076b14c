"""What JAX refuses, and values that a compiled function has frozen."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from jax_runs import captured, judged

import gradproof
from gradproof.frameworks import framework

scale = 10.0


def loss(v):
    return scale * jnp.sum(v**3)


def test_a_changed_global_is_named():
    def run():
        global scale
        scale = 10.0
        gradient = jax.jit(jax.grad(loss))
        gradient(jnp.arange(3.0))
        scale = 20.0
        gradient(jnp.arange(3.0))

    first, second = judged(run)
    assert [one.kind for one in first.diagnostics] == []
    assert [one.kind for one in second.diagnostics] == ["baked-constant"]
    assert (first.verdict.value, second.verdict.value) == ("correct", "correct")


def test_a_changed_global_is_named_in_a_compiled_part_of_what_is_differentiated():
    def run():
        global scale
        scale = 10.0
        part = jax.jit(loss)
        jax.grad(lambda v: part(v) + 1.0)(jnp.arange(3.0))
        scale = 20.0
        jax.grad(lambda v: part(v) + 1.0)(jnp.arange(3.0))
        jax.grad(lambda v: jnp.sum(v**2))(jnp.arange(3.0))

    assert [[one.kind for one in report.diagnostics] for report in judged(run)] == [
        [],
        ["baked-constant"],
        [],
    ]


def test_integers_are_refused_and_named():
    def run():
        with pytest.raises(TypeError):
            jax.grad(lambda x: jnp.sum(x**2))(jnp.arange(3))

    (report,) = judged(run)
    assert report.verdict.value == "missing"
    assert [one.kind for one in report.diagnostics] == ["integer-dtype"]


def test_a_result_that_is_no_number_is_refused_with_its_reason():
    def run():
        with pytest.raises(TypeError):
            jax.grad(lambda x: x**2)(jnp.arange(3.0))

    (capture,) = captured(run)
    assert "scalar-output" in capture.run.exception


def test_executions_on_the_short_cut_are_counted():
    wanted = {1, 2, 10}
    step = jax.jit(jax.grad(loss))

    def run():
        for _ in range(12):
            step(jnp.arange(3.0))

    found = captured(run, policy=lambda n: n in wanted)
    assert [capture.run.occurrence for capture in found] == [1, 2, 10]


def test_what_was_compiled_before_anybody_watched_is_said_to_be_unseen(monkeypatch) -> None:
    here = (framework("jax"), framework("numpy"))
    monkeypatch.setattr("gradproof.audit.session.all_frameworks", lambda: here)
    f = jax.jit(jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 2)))
    f(jnp.arange(3.0))
    f(jnp.arange(3.0))
    with gradproof.watch() as report:
        f(jnp.arange(3.0))
    assert report.gradients == ()
    assert any("jax.clear_caches()" in note for note in report.notes)
    jax.clear_caches()
    with gradproof.watch() as report:
        f(jnp.arange(3.0))
    assert [str(one.verdict) for one in report.gradients] == ["correct"]
    assert not any("jax.clear_caches()" in note for note in report.notes)


def test_what_was_compiled_under_one_watch_is_seen_by_the_next() -> None:
    f = jax.jit(jax.grad(lambda x: jnp.sum(jnp.cos(x) ** 3)))
    for _ in range(3):
        with gradproof.watch() as report:
            f(jnp.arange(3.0))
        assert [str(one.verdict) for one in report.gradients] == ["correct"]


def test_beside_another_framework_silence_is_not_laid_on_jax(monkeypatch) -> None:
    frameworks = (framework("jax"), framework("numpy"), replace(framework("torch"), module="sys"))
    monkeypatch.setattr("gradproof.audit.session.all_frameworks", lambda: frameworks)
    with gradproof.watch() as report:
        pass
    assert report.notes == ()

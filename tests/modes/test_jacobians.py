"""Jacobians and directional derivatives are run in every mode, by the ops that were recorded of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.audit.collected import Collector
from gradproof.frontends.select import attach_all, plain_modes
from gradproof.ir.capture import Capture
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import CallModes
from gradproof.modes.table import compared
from gradproof.options import Options

MODES = ("op by op", "jit", "eager", "graph", "deterministic algorithms")
X = np.array([0.3, -1.2, 2.0], np.float32)


def captures_of(run: Any) -> list[Capture]:
    collector = Collector()
    attached = attach_all(collector.receive, lambda occurrence: True)
    try:
        run()
    finally:
        for one in attached:
            one.ended()
            one.remove()
    assert not collector.notes
    return collector.captures


def _in_modes(capture: Capture) -> CallModes:
    modes = [mode for mode in plain_modes(capture.framework) if mode.name in MODES]
    chosen = [replace(mode, precisions=("float64",) if mode.is_single else ()) for mode in modes]
    found = compared(capture, chosen, [], Options(seconds=None))
    assert found is not None and not any("Jacobian" in note for note in found.notes)
    return found


def _assert_right(call: CallModes, shape: tuple[int, ...]) -> None:
    own = [line for line in call.lines if line.dtype == "float32" and line.policy is None]
    assert len(own) >= 2 and any(line.is_own for line in own)
    for line in own:
        gradient = line.cells[0].gradient
        assert line.verdict is Verdict.CORRECT and gradient is not None and gradient.shape == shape
    assert {line.dtype for line in call.lines} == {"float64", "float32"}
    assert call.conclusion.kind == "agree" and call.conclusion.verdict.startswith("all modes agree")


def test_of_jax() -> None:
    jax = pytest.importorskip("jax")
    (capture,) = captures_of(lambda: jax.jacfwd(jax.nn.softmax)(jax.numpy.asarray(X)))
    _assert_right(_in_modes(capture), (3, 3))


def test_of_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")

    def run() -> Any:
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(x) * tf.reduce_sum(x * x)
        return tape.jacobian(y, x)

    (capture,) = captures_of(run)
    _assert_right(_in_modes(capture), (3, 3))


def test_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    (capture,) = captures_of(lambda: torch.func.jacrev(lambda v: torch.softmax(v, 0))(torch.tensor(X)))
    _assert_right(_in_modes(capture), (3, 3))


def test_a_gradient_inside_a_hessian_does_not_hide_it() -> None:
    jax = pytest.importorskip("jax")
    found = captures_of(lambda: jax.hessian(lambda v: jax.numpy.sum(v**3))(jax.numpy.asarray(X)))
    shapes = [one.observed.shape for capture in found for one in capture.sources if one.observed is not None]
    assert (3, 3) in shapes


def test_a_line_of_a_loop_is_looked_at_once() -> None:
    jax = pytest.importorskip("jax")

    def run() -> None:
        for k in range(3):
            jax.grad(lambda v: jax.numpy.sum(v * v))(jax.numpy.asarray(X + k))

    assert len(captures_of(run)) == 1


def test_a_place_that_asks_for_several_things_has_them_all() -> None:
    jax = pytest.importorskip("jax")

    def run() -> None:
        for shape in ((3,), (2, 3)):
            jax.grad(lambda v: jax.numpy.sum(v * v))(jax.numpy.ones(shape))

    assert [capture.sources[0].shape for capture in captures_of(run)] == [(3,), (2, 3)]

"""A program that is carried over to another framework: the op at which that parts from the program's own is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.diagnosis.parting import Parting
from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.ir.program import Builder
from gradproof.modes.model import CallModes, ModeLine
from gradproof.modes.rule_parting import _vanished
from gradproof.modes.table import compared
from gradproof.options import Options

tf = pytest.importorskip("tensorflow")
jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")


def _carried(function: Any, x: Any, others: tuple[str, ...]) -> tuple[CallModes, dict[str, ModeLine]]:
    """The call op by op in its own framework and in others."""
    (capture,) = frontend_for((x,), {}).check(Request(function, (x,))).captures
    chosen = (capture.framework, *others)
    modes = [replace(mode, precisions=()) for name in chosen for mode in plain_modes(name) if mode.is_single]
    found = compared(capture, modes, [], Options())
    assert found is not None and not found.notes
    return found, {line.framework: line for line in found.lines}


def _only(line: ModeLine) -> Parting:
    (parting,) = line.cells[0].partings
    return parting


def test_jax_has_another_derivative_of_a_division_than_tensorflow() -> None:
    def shares(x: Any) -> Any:
        e = tf.exp(x)
        return tf.reduce_sum((e / tf.reduce_sum(e)) ** 2)

    call, lines = _carried(shares, tf.constant([50.0, 49.0, 20.0]), ("jax", "torch"))
    parting = lines["jax"].cells[0].partings[-1]
    assert (parting.op, parting.phase, parting.whose.kind) == ("div", "backward", "derivative-rule")
    assert parting.beside == "TensorFlow" and parting.other in ("0.0", "-0.0")
    assert parting.exact.startswith("-1.7111441413") and float(parting.single) != 0.0
    assert "upstream" in parting.inputs[-1] and parting.inputs[:2] == ("5.1847055e21", "7.092052e21")
    assert (
        "JAX is inaccurate (0.0 of 7.2 digits), from `div` in the derivative of line"
        in call.conclusion.verdict
    )
    assert lines["torch"].cells[0].gap_ulps == 0 and not lines["torch"].cells[0].partings


def test_an_entry_that_is_lost_is_told_though_others_are_larger() -> None:
    """Beside 1e4 the lost 1e-21 is nothing, and yet all of its row: it is multiplied by an exponential."""

    def shares(x: Any) -> Any:
        e = tf.exp(x)
        return tf.reduce_sum((e / tf.reduce_sum(e, axis=1, keepdims=True)) ** 2)

    call, lines = _carried(shares, tf.constant([[50.0, 49.0, 20.0], [-9.0, -8.0, -9.5]]), ("jax",))
    parting = lines["jax"].cells[0].partings[-1]
    assert (parting.op, parting.phase, parting.whose.kind) == ("div", "backward", "derivative-rule")
    assert parting.index == (0, 0) and parting.other in ("0.0", "-0.0")
    assert parting.inputs[:2] == ("5.1847055e21", "7.092052e21"), "the entry that is lost, not the largest"
    assert "leaves the range of float32" in parting.whose.text
    assert "from `div` in the derivative of line" in call.conclusion.verdict


def test_what_is_left_of_a_sum_that_cancels_is_no_lost_entry() -> None:
    """0 in one order of adding and noise in another: neither is right, so that no rule lost anything."""
    program = Builder()
    x = program.input(np.array([1e8, 1.0, -1e8], np.float32))
    total = program.add("sum", x, params={"axes": (0,)}, dtype="float32", shape=())
    alone = (program.build([total]), [x])
    ones = np.ones(3, np.float32)
    assert _vanished(alone, 0, ones, np.array([1, 1, 0], np.float32)) == (2,)
    assert _vanished(alone, 0, ones * 3, np.array([1, 1, 0], np.float32)) is None
    assert _vanished(alone, 0, ones, ones) is None


def test_another_exponential_is_named_with_what_it_had() -> None:
    x = np.random.default_rng(5).normal(size=60).astype(np.float32) * 9
    _, lines = _carried(lambda v: torch.sum(torch.exp(v)), torch.tensor(x), ("numpy", "jax", "tensorflow"))
    for name in ("numpy", "jax", "tensorflow"):
        if lines[name].cells[0].gap_ulps:
            parting = _only(lines[name])
            assert (parting.op, parting.phase, parting.beside) == ("exp", "forward", "PyTorch")
            assert parting.whose.kind == "approximation" and " in PyTorch" in parting.whose.text
            assert parting.exact and parting.single != parting.other


def test_a_derivative_that_is_rounded_in_other_places_is_named() -> None:
    x = np.random.default_rng(6).normal(size=60).astype(np.float32) ** 2 + 1
    _, lines = _carried(lambda v: jax.numpy.sum(v[0] / v), jax.numpy.asarray(x), ("tensorflow", "torch"))
    for name in ("tensorflow", "torch"):
        assert lines[name].cells[0].gap_ulps
        parting = _only(lines[name])
        assert (parting.op, parting.phase, parting.beside) == ("div", "backward", "JAX")
        assert parting.whose.kind == "derivative-rounding"


def test_where_frameworks_agree_nothing_is_told() -> None:
    functions = (
        lambda x: tf.reduce_sum(x * x),
        lambda x: tf.reduce_sum(tf.nn.relu(x)),
        lambda x: tf.reduce_sum(tf.where(x > 0, x, 2 * x)),
    )
    for function in functions:
        _, lines = _carried(function, tf.constant([1.0, -2.0, 0.3]), ("numpy", "jax", "torch"))
        assert all(line.cells[0].gap_ulps == 0 and not line.cells[0].ops for line in lines.values())


def test_parts_that_are_added_in_another_order_are_told_as_such() -> None:
    from gradproof.modes.rule_parting import RuleSearch

    def branched(v: Any) -> Any:
        return np.sum(v * np.float32(6e-8) + v * np.float32(6e-8) + v)

    x = np.array([0.1, 0.7], np.float32)
    (capture,) = frontend_for((x,), {}).check(Request(branched, (x,))).captures
    (tape,) = plain_modes("numpy")
    absorbed, kept = np.float32(1.0000002), np.float32(1.0000001)

    def turned(fed: Any, target: int, wrt: Any) -> Any:
        """Adds what comes back to `v` from the other end, the small parts first."""
        value, found = tape.gradient(fed, target, wrt)
        return value, [np.where(one == absorbed, kept, one) for one in found]

    (wrt,) = (source.node for source in capture.sources)
    other = replace(tape, name="turned", gradient=turned)
    material, nearly = RuleSearch(capture, [wrt], tape, other, "").found()
    assert material is None and nearly is not None
    assert (nearly.node, nearly.op, nearly.phase, nearly.whose.kind) == (wrt, "add", "backward", "sum-order")
    assert sorted(nearly.inputs) == ["1.0", "6.0e-8", "6.0e-8"] and "3 parts" in nearly.whose.text
    assert nearly.exact.startswith("1.0000001199999957")
    assert (nearly.single, nearly.other) == ("1.0000002", "1.0000001")

"""The whole of `gradproof.compare`: the table, the op at which modes part, the verdict, the text."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof
from gradproof.errors import InvalidInput
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import ModesReport
from gradproof.render.modes_html import to_modes_html

tf = pytest.importorskip("tensorflow")


def softmax_by_hand(x):
    e = tf.exp(x)
    p = e / tf.reduce_sum(e)
    return tf.reduce_sum(p * p)


@pytest.fixture(scope="module")
def softmax() -> ModesReport:
    patient = gradproof.Options(seconds=600.0)
    point = tf.constant([50.0, 49.0, 20.0])
    return gradproof.compare(softmax_by_hand, point, frameworks=["numpy"], options=patient)


def test_softmax_by_hand_parts_at_the_second_division_under_xla(softmax):
    (call,) = softmax.calls
    line = next(one for one in call.lines if one.mode == "XLA" and one.dtype == "float32")
    (parting,) = line.cells[0].partings
    assert (parting.op, parting.phase) == ("div", "backward")
    assert parting.span.line == softmax_by_hand.__code__.co_firstlineno + 2
    assert "`a / b / c` was rewritten as `a / (b * c)`" in parting.whose.text
    assert "overflows float32" in parting.whose.text
    assert line.verdict is Verdict.INACCURATE and line.cells[0].digits < 1


def test_the_modes_that_are_right_are_said_to_be(softmax):
    (call,) = softmax.calls
    others = [one for one in call.lines if one.dtype == "float32" and one.mode != "XLA"]
    other = (
        "oneDNN off" if any(one.mode == "oneDNN off" for one in others) else "oneDNN on"
    )  # as the process has it
    assert [one.mode for one in others if one.policy is None] == [
        "eager", "graph", other, "deterministic ops", "one thread", "tape",
    ]  # fmt: skip
    assert all(one.verdict is Verdict.CORRECT and one.repeats for one in others if one.policy is None)
    assert all(
        one.rethreads for one in call.lines if one.dtype == "float32" and one.mode in ("eager", "XLA", "tape")
    )
    assert [one.mode for one in others if one.policy is not None] == ["mixed_bfloat16", "mixed_float16"]
    assert next(one for one in others if one.is_own).mode == "eager"
    assert call.conclusion.kind == "inaccurate"
    assert any(
        text.startswith("TensorFlow under XLA in float64 returns 13") for text in call.conclusion.advice
    )


def test_a_rewriting_that_was_run_in_the_mode_at_fault_is_offered(softmax):
    fix = softmax.calls[0].conclusion.rewriting
    assert fix.text == "use softmax, which subtracts the largest exponent first"
    assert fix.checked.startswith("with this change the recorded ops, run in TensorFlow under XLA, return 6.")


def test_the_page_has_a_heat_map_and_the_op_marked_in_the_graph(softmax):
    page = to_modes_html(softmax)
    # Under XLA it parts at the division, in NumPy at the exponential, which is another one; in bfloat16 there, too, and
    # what matters is a sum behind it.
    assert page.count("op marked") == 3 and ">div<" in page and ">exp<" in page and "line " in page
    assert "background: hsl(" in page and "use softmax" in page
    assert softmax._repr_html_() in page


def test_other_precisions_of_a_policy_are_no_fault_of_the_program(softmax):
    (call,) = softmax.calls
    narrow = next(one for one in call.lines if one.mode == "mixed_float16")
    assert narrow.verdict is Verdict.NONFINITE and "mixed_float16" not in call.conclusion.verdict


def test_the_loss_is_scaled_no_further_than_float16_reaches():
    for factor in (3.0, 1e-6):
        report = gradproof.compare(
            lambda x, c=factor: tf.reduce_sum(x * c * x),
            tf.constant([1.0, 2.0]),
            frameworks=[],
            only_here=True,
        )
        line = next(one for one in report.calls[0].lines if one.mode == "mixed_float16")
        assert line.verdict is Verdict.CORRECT and line.cells[0].gradient.dtype == np.float32


def test_modes_that_need_a_process_of_their_own_can_be_left_out():
    report = gradproof.compare(
        lambda x: tf.reduce_sum(x * x), tf.constant([1.0]), frameworks=[], only_here=True
    )
    (call,) = report.calls
    left = {one.name: one.reason for one in call.lacking}
    assert "only this one was asked for" in left["deterministic ops"] and "one thread" in left
    assert all(one.rethreads is None for one in call.lines)


def test_the_text_has_the_table_the_op_and_the_verdict(softmax):
    text = str(softmax)
    assert "TensorFlow under XLA parts from the run op by op where it matters" in text
    assert "p = e / tf.reduce_sum(e)" in text
    assert "verdict  TensorFlow under XLA is inaccurate (0.0 of 7.2 digits), from `div` in" in text
    assert "TensorFlow, an accelerator: there is none on this machine" in text


def test_nothing_is_claimed_where_all_modes_agree():
    report = gradproof.compare(
        lambda x: tf.reduce_sum(x * x), tf.constant([1.0, 2.0]), frameworks=[], only_here=True
    )
    (call,) = report.calls
    assert call.conclusion.kind == "agree"
    own = [line for line in call.lines if line.policy is None]
    assert all(cell.gap_ulps == 0 and not cell.partings for line in own for cell in line.cells)


def test_a_numpy_function_is_compared_too():
    report = gradproof.compare(lambda x: np.sum(np.exp(x)), np.array([0.5, 1.0]), frameworks=[])
    (call,) = report.calls
    assert [line.mode for line in call.lines if line.is_own] == ["tape"]
    assert call.conclusion.kind == "agree"


def test_pytorch_compiles_a_program_that_ran_in_jax():
    jnp = pytest.importorskip("jax.numpy")
    pytest.importorskip("torch")
    point, options = jnp.array([1.0, 2.0]), gradproof.Options(seconds=600.0)
    (call,) = gradproof.compare(
        lambda x: jnp.sum(jnp.sin(x)), point, frameworks=["torch"], only_here=True, options=options
    ).calls
    assert [one.name for one in call.lacking] == ["an accelerator"] * 2


def test_misuse_is_told():
    with pytest.raises(InvalidInput, match="needs a function"):
        gradproof.compare(3)
    with pytest.raises(InvalidInput, match="no framework `mxnet`"):
        gradproof.compare(lambda x: x * x, np.array(0.5), frameworks=["mxnet"])

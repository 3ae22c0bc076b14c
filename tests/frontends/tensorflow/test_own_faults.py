"""A fault of ours costs the user a verdict, never the program: planted at every stage, the run goes on."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.judge.verdict import Verdict

pytestmark = pytest.mark.tensorflow

STAGES = [
    "gradproof.frontends.tensorflow.eager.recorder:Recorder.add",
    "gradproof.frontends.tensorflow.eager.tapes:build_call",
    "gradproof.frontends.tensorflow.eager.freeze:program_of",
    "gradproof.frontends.tensorflow.eager.freeze:operands",
    "gradproof.frontends.assemble.captures:to_captures",
    "gradproof.frontends.assemble.program:Assembly.lower",
    "gradproof.frontends.assemble.program:Assembly._results",
    "gradproof.frontends.assemble.capture:_with_program",
    "gradproof.frontends.tensorflow.eager.reads:_inputs",
    "gradproof.audit.examine:judge_call",
    "gradproof.audit.session:examined",
    "gradproof.judge.judge:find_reference",
    "gradproof.judge.judge:_judgement",
]


GRADIENT_LINE = next(
    n
    for n, line in enumerate(Path(__file__).read_text().splitlines(), 1)
    if line.endswith("# the eager call")
)


class Planted(Exception):
    """No exception that any code of ours expects."""


def fail(*args: Any, **kwargs: Any) -> Any:
    raise Planted("planted")


def program() -> list[float]:
    x = tf.Variable([1.0, 2.0])
    w = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sin(x) * w)
    first, second = tape.gradient(loss, [x, w])  # the eager call
    x.assign_sub(first)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * x)
        return tape.gradient(loss, x)

    return [*first.numpy().tolist(), *second.numpy().tolist(), *step().numpy().tolist()]


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_at_any_stage_leaves_the_program_alone(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = program()
    path, _, name = stage.partition(":")
    owner = importlib.import_module(path)
    *parents, last = name.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    monkeypatch.setattr(owner, last, fail)
    with gradproof.watch() as report:
        found = program()
    assert found == expected
    assert report.gradients or report.notes
    # What a function does is recorded another way, so that some stages are not met there.
    assert {gradient.verdict for gradient in report.gradients} <= {Verdict.UNVERIFIED, Verdict.CORRECT}
    eager = [gradient for gradient in report.gradients if gradient.call.line == GRADIENT_LINE]
    assert all(gradient.verdict is Verdict.UNVERIFIED for gradient in eager)
    reasons = [gradient.reason or "" for gradient in report.gradients]
    assert any("report it" in text for text in (*reasons, *report.notes))

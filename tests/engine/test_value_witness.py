"""The value witness: a value that is not what an op means is found; what rounding does to one is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.allowance import SPECIAL
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.engine.value_witness import PLAIN, _Look, misread
from gradproof.ir import types
from gradproof.ir.program import Builder, Program
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE, Op, Sample
from gradproof.options import Options

from ..ops.sampling import op_samples, program_of

SAMPLES = [
    one for one in op_samples(smooth=True) if one.values[0].n_outputs == 1 and one.values[0].name not in PLAIN
]


def _with_value(program: Program, value: Any) -> Program:
    """The program, its last node having returned something else."""
    last = program[program.outputs[0]]
    changed = replace(last, value=np.asarray(value, np.asarray(last.value).dtype))
    return replace(program, nodes=tuple(changed if node is last else node for node in program.nodes))


def _is_computed(program: Program) -> bool:
    return bool(program[program.outputs[0]].inputs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_what_numpy_computes_in_any_dtype_is_what_an_op_means(op: Op, sample: Sample, dtype: str) -> None:
    assert misread(program_of(op, sample, dtype)) is None


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_the_exact_value_rounded_is_what_an_op_means(op: Op, sample: Sample) -> None:
    program = program_of(op, sample)
    exact = run(BallDomain(200), program)
    (output,) = program.outputs
    mid, rad = exact.m.domain.leave(exact.values[output])
    if _is_computed(program) and np.isfinite(rad).all():
        value = mid if types.is_complex(program[output].dtype) else np.real(mid)
        assert misread(_with_value(program, value)) is None


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_another_value_is_found(op: Op, sample: Sample) -> None:
    """As from a lowering that means something else: one entry is off by a hundredth of the largest."""
    program = program_of(op, sample)
    value = np.array(program[program.outputs[0]].value)
    if not _is_computed(program) or not np.isfinite(value).all() or not value.size:
        return
    value.flat[-1] += 0.01 * np.abs(value).max() + (0.01 if op.name in SPECIAL else 1e-6)
    found = misread(_with_value(program, value))
    assert found is not None and found.node.op == program[program.outputs[0]].op


def _program(dtype: str = "float32") -> tuple[Builder, Tracer, Traced]:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    value = np.asarray([0.3, 0.7, 90.0], dtype)
    return builder, m, Traced(m, builder.input(value), value)


def _settled(builder: Builder, y: Traced, value: Any) -> Traced:
    """The last node of a lowering, with what the framework returned."""
    value = np.asarray(value, y.value.dtype)
    builder.nodes[-1] = replace(builder.nodes[-1], value=value)
    return Traced(y.m, y.id, value)


def test_a_kernel_that_is_better_than_our_way_of_writing_it_means_the_same() -> None:
    """log(1 + exp(x)) overflows in float32 as we write it; the framework's own kernel does not."""
    builder, m, x = _program()
    y = m.log(m.add(m.exp(x), 1.0))
    y = _settled(builder, y, np.log1p(np.exp(x.value.astype(np.float64))))
    assert misread(builder.build([m.sum(y, axes=(0,)).id])) is None


def test_a_kernel_that_cancels_less_than_our_way_of_writing_it_means_the_same() -> None:
    builder, m, x = _program()
    small = m.mul(x, 1e-7)
    y = m.sub(m.exp(small), 1.0)
    y = _settled(builder, y, np.expm1(small.value.astype(np.float64)))
    assert misread(builder.build([m.sum(y, axes=(0,)).id])) is None


def test_what_lies_far_behind_such_a_kernel_is_not_gone_back_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of a large network all of it would be computed again in balls, for every such kernel."""
    builder, m, x = _program()
    far = x
    for _ in range(12):
        far = m.neg(far)
    y = m.mul(m.sub(m.add(far, 1e8), 1e8), 2.0)
    y = _settled(builder, y, 2.0 * far.value)
    computed: list[str] = []
    meant = _Look._meant
    monkeypatch.setattr(
        _Look,
        "_meant",
        lambda self, m, node, *rest: (computed.append(node.op), meant(self, m, node, *rest))[1],
    )
    assert misread(builder.build([m.sum(y, axes=(0,)).id])) is None
    assert "sub" in computed and "neg" not in computed


def test_a_meaning_that_is_off_behind_such_a_kernel_is_found() -> None:
    builder, m, x = _program()
    y = m.log(m.add(m.exp(x), 1.0))
    y = _settled(builder, y, np.log1p(np.exp(x.value.astype(np.float64))) * 1.001)
    found = misread(builder.build([m.sum(y, axes=(0,)).id]))
    assert found is not None and found.node.op == "log"


def _linear(off: float) -> Program:
    """A product with a bias as one kernel computes it: in other digits than ours, where the two cancel."""
    rng = np.random.default_rng(0)
    builder = Builder()
    m = Tracer(builder, phase="forward")
    a, b = (rng.normal(size=shape).astype(np.float32) for shape in ((8, 300), (300, 40)))
    x, w = (Traced(m, builder.input(one), one) for one in (a, b))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bias = m.constant((-exact[0]).astype(np.float32))
    y = m.add(m.matmul(x, w), bias)
    y = _settled(builder, y, exact + bias.value.astype(np.float64) + off)
    return builder.build([m.sum(y, axes=(0, 1)).id])


def test_what_is_added_to_a_product_before_it_is_rounded_needs_no_closer_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def closer(*_: Any) -> Any:
        raise AssertionError("the product was taken in balls")

    monkeypatch.setattr(_Look, "_compared", closer)
    assert misread(_linear(0.0)) is None


def test_another_sum_of_a_product_is_found() -> None:
    found = misread(_linear(0.1))
    assert found is not None and found.node.op == "add"


def test_no_verdict_rests_on_a_meaning_that_is_not_what_ran() -> None:
    """The square of the modulus, lowered as a square: values differ, and the gradient is not judged by it."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    value = np.asarray([1.0 + 2.0j, 0.5 - 1.0j])
    z = Traced(m, builder.input(value), value)
    y = _settled(builder, m.square(z), np.abs(value) ** 2)
    program = builder.build([m.real(m.sum(y, axes=(0,))).id])
    (found,) = judge(Evidence(program, program.inputs, (2.0 * value,)), Options())
    assert found.verdict is Verdict.UNVERIFIED and found.enclosure is None
    assert found.reason is not None and found.reason.startswith("`square` returned")
    assert "something else than what ran" in found.reason


def test_numbers_flushed_to_zero_are_rounding() -> None:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    value = np.asarray([1e-30, 1e-25], np.float32)
    x = Traced(m, builder.input(value), value)
    y = _settled(builder, m.mul(x, m.literal(np.asarray([1e-12, 1e-15], np.float32))), [0.0, 0.0])
    assert misread(builder.build([m.sum(y, axes=(0,)).id])) is None


def test_a_missing_gradient_stays_missing() -> None:
    builder, m, x = _program("float64")
    y = _settled(builder, m.exp(x), x.value)
    program = builder.build([m.sum(y, axes=(0,)).id])
    (found,) = judge(Evidence(program, program.inputs, (None,)), Options())
    assert found.verdict is Verdict.MISSING


def test_every_op_that_the_allowances_name_exists() -> None:
    assert set(TABLE) >= SPECIAL

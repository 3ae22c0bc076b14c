"""Verdicts: each of them where it belongs, and zeros that rounding made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gradproof.engine.derive import derive
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.unknown import NO_NUMBER_GIVEN
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE
from gradproof.options import Options

from ..planting import planted
from ..small import judge_own, judge_recorded, observed, program_of, total


def _absorbed(m: Any, x: Any) -> Any:
    return m.square(m.sub(m.add(m.mul(x, 1e10), 1.0), 1e10))


def test_a_right_gradient_is_correct_in_every_dtype() -> None:
    for dtype in ("float16", ml_dtypes.bfloat16, "float32", "float64"):
        (judgement,) = judge_own(program_of(lambda m, x: total(m, m.tanh(x)), [0.5, -0.25], dtype=dtype))
        assert judgement.verdict is Verdict.CORRECT


def test_digits_that_rounding_destroyed_are_inaccurate() -> None:
    (judgement,) = judge_own(program_of(_absorbed, np.float32(1.0)))
    assert judgement.verdict is Verdict.INACCURATE
    assert judgement.enclosure is not None
    assert float(judgement.enclosure.mid) == pytest.approx(2e10)
    assert judgement.comparison is not None
    assert judgement.comparison.digits == 0.0


def test_the_same_function_is_correct_where_the_precision_suffices() -> None:
    (judgement,) = judge_own(program_of(_absorbed, np.float64(1.0)))
    assert judgement.verdict is Verdict.CORRECT


def test_a_rule_that_is_not_the_derivative_is_wrong() -> None:
    program = program_of(lambda m, x: m.exp(m.tanh(x)), 0.5)
    with planted("tanh", lambda op: replace(op, slopes=(lambda m, y, x: 1 + y * y,))):
        recorded = derive(program)
    (judgement,) = judge_recorded(program, recorded, observed(recorded))
    assert judgement.verdict is Verdict.WRONG
    assert TABLE["tanh"].slopes is not None


def test_no_gradient_is_missing_and_the_reference_says_what_it_would_have_been() -> None:
    program = program_of(lambda m, x: m.exp(x), 0.0)
    (judgement,) = judge(Evidence(program, program.inputs, (None,)), Options())
    assert judgement.verdict is Verdict.MISSING
    assert judgement.enclosure is not None
    assert float(judgement.enclosure.mid) == pytest.approx(1.0)


def test_nan_beside_a_finite_truth_is_nonfinite() -> None:
    def function(m: Any, x: Any) -> Any:
        return total(m, m.select(m.greater(x, m.zeros(())), m.sqrt(x), m.zeros(())))

    (judgement,) = judge_own(program_of(function, [4.0, -1.0]))
    assert judgement.verdict is Verdict.NONFINITE
    assert judgement.enclosure is not None
    assert judgement.enclosure.mid.tolist() == [0.25, 0.0]


def test_without_the_backward_ops_a_difference_has_no_name() -> None:
    program = program_of(lambda m, x: m.exp(x), 0.0)
    (judgement,) = judge(Evidence(program, program.inputs, (np.asarray(1.5),)), Options())
    assert judgement.verdict is Verdict.UNVERIFIED
    assert "the backward ops were not recorded" in str(judgement.reason)


def test_each_source_is_judged_alone() -> None:
    program = program_of(lambda m, x, y: m.mul(m.exp(x), y), 0.5, 2.0)
    derived = derive(program)
    right, other = observed(derived)
    verdicts = [j.verdict for j in judge_recorded(program, derived, (right, None))]
    assert verdicts == [Verdict.CORRECT, Verdict.MISSING]
    assert other is not None


DTYPES = ("float16", ml_dtypes.bfloat16, "float32", "float64")


def _centred(m: Any, x: Any, b: Any) -> Any:
    """The bias is subtracted again with the mean, so that its true gradient is zero."""
    h = m.add(x, b)
    spread = m.broadcast(m.reshape(m.mean(h, axes=(1,)), shape=(3, 1)), shape=(3, 5))
    return total(m, m.exp(m.sub(h, spread)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(8))
def test_the_bias_before_a_mean_is_subtracted_has_gradient_zero_up_to_rounding(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = program_of(_centred, rng.normal(size=(3, 5)), rng.normal(size=(3, 1)), dtype=dtype)
    assert judge_own(program)[1].verdict is Verdict.CORRECT


def _shifted(m: Any, x: Any, b: Any) -> Any:
    weights = m.literal(np.array([1.0, 2.0, 4.0, -3.0]))
    return total(m, m.mul(m.softmax(m.mul(m.add(x, b), 2.0), axes=(0,)), weights))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(8))
def test_a_shift_before_a_softmax_has_gradient_zero_up_to_rounding(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = program_of(_shifted, rng.normal(size=4), rng.normal(), dtype=dtype)
    judgement = judge_own(program)[1]
    assert judgement.verdict is Verdict.CORRECT
    assert judgement.enclosure is not None
    assert abs(float(judgement.enclosure.mid)) <= 1e-20


@pytest.mark.parametrize(("mistake", "verdict"), [(0.0, Verdict.INACCURATE), (1e-9, Verdict.WRONG)])
def test_at_the_end_of_a_fit_the_error_is_due_to_rounding_or_to_the_rule(
    mistake: float, verdict: Verdict
) -> None:
    """The true gradient is zero, and what encloses it has some width: no rule is small beside that."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    data, point = np.full(3000, 0.1, np.float32), np.asarray(0.1, np.float32)
    one = Traced(m, builder.input(data), data)
    scale, two = (m.literal(np.asarray(number, np.float32)) for number in (1e12, 2.0))
    off = m.sub(m.mean(one, axes=(0,)), m.literal(point))
    program = builder.build([m.mul(m.power(off, two), scale).id])
    m = Tracer(builder, phase="backward")
    off = Traced(m, off.id, off.value)
    weight, count, more = (m.literal(np.asarray(number, np.float32)) for number in (2e12, 3e3, mistake))
    slope = m.mul(weight, m.add(m.power(off, m.literal(np.asarray(1.0, np.float32))), more))
    gradient = m.div(m.broadcast(slope, shape=(3000,)), count)
    recorded = builder.build([gradient.id])
    evidence = Evidence(program, (one.id,), (np.asarray(gradient.value),), (gradient.id,), recorded)
    (judgement,) = judge(evidence, Options())
    assert np.all(gradient.value)
    assert judgement.verdict is verdict


def test_a_wrong_rule_is_not_excused_by_a_true_gradient_of_zero() -> None:
    program = program_of(_centred, np.arange(15.0).reshape(3, 5) / 8.0, np.ones((3, 1)))
    with planted("sub", lambda op: replace(op, slopes=(op.slopes[0], lambda m, y, a, b: -0.5))):  # type: ignore[index]
        recorded = derive(program)
    assert judge_recorded(program, recorded, observed(recorded))[1].verdict is Verdict.WRONG


def test_a_point_that_is_singular_in_one_input_only_is_an_ordinary_one_for_the_other() -> None:
    def quotient(m: Any, a: Any, b: Any) -> Any:
        is_zero = m.equal(b, m.zeros(()))
        return m.select(is_zero, m.zeros(()), m.div(a, m.select(is_zero, m.literal(np.ones(())), b)))

    of_a, of_b = judge_own(program_of(quotient, 1.0, 0.0))
    assert of_a.verdict is Verdict.CORRECT
    assert of_b.verdict is Verdict.UNDEFINED


def test_a_constant_rounded_to_sixteen_bits_is_not_a_wrong_rule() -> None:
    """erf in bfloat16: its rule multiplies by 2/sqrt(pi), which that dtype holds to two digits only."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = np.linspace(-1.0, 1.0, 5).astype(np.float32)
    wide = Traced(m, builder.input(x), x)
    narrow = m.cast(wide, dtype="bfloat16")
    factor = np.asarray(1.1283791670955126, ml_dtypes.bfloat16)
    y = m.sum(m.cast(m.erf(narrow), dtype="float32"), axes=(0,))
    program = builder.build([y.id])
    slope = m.mul(m.literal(factor), m.exp(m.neg(m.mul(narrow, narrow))))
    gradient = m.cast(slope, dtype="float32")
    recorded = builder.build([gradient.id])
    evidence = Evidence(program, (wide.id,), (np.asarray(gradient.value),), (gradient.id,), recorded)
    (judgement,) = judge(evidence, Options())
    assert judgement.verdict is Verdict.INACCURATE


def _cancelling(two_thirds: float) -> Evidence:
    """`(1 + 2^-20) x - 2x/3 - x/3` with the slope `(1 + 2^-20) - two_thirds - 1/3`, its numbers rounded."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    whole = m.literal(np.asarray(1 + 2.0**-20, np.float32))
    x = np.asarray(0.75, np.float32)
    one = Traced(m, builder.input(x), x)
    third = m.div(one, m.literal(np.asarray(3.0, np.float32)))
    program = builder.build([m.sub(m.sub(m.mul(whole, one), m.add(third, third)), third).id])
    m = Tracer(builder, phase="backward")
    numbers = (m.literal(np.asarray(number, np.float32)) for number in (two_thirds, 1 / 3))
    gradient = m.sub(m.sub(Traced(m, whole.id, whole.value), next(numbers)), next(numbers))
    recorded = builder.build([gradient.id])
    return Evidence(program, (one.id,), (np.asarray(gradient.value),), (gradient.id,), recorded)


@pytest.mark.parametrize(("factor", "verdict"), [(2 / 3, Verdict.INACCURATE), (0.6667, Verdict.WRONG)])
def test_a_rule_is_right_whose_numbers_are_rounded_however_much_cancels(
    factor: float, verdict: Verdict
) -> None:
    (judgement,) = judge(_cancelling(factor), Options())
    assert judgement.verdict is verdict


def test_rounding_that_carries_a_mistake_over_the_tolerance_is_not_to_blame() -> None:
    """The rule leaves out a factor, and is off by a hair less than what is allowed; rounding adds the hair."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = np.linspace(0.5, 2.0, 200).astype(np.float32)
    one = Traced(m, builder.input(x), x)
    square = m.mul(one, one)
    factor = m.literal(np.asarray(1 / (1 - 0.99997e-3), np.float32))
    program = builder.build([m.sum(m.mul(m.mul(square, one), factor), axes=(0,)).id])
    gradient = m.mul(m.literal(np.asarray(3.0, np.float32)), square)
    recorded = builder.build([gradient.id])
    evidence = Evidence(program, (one.id,), (np.asarray(gradient.value),), (gradient.id,), recorded)
    (judgement,) = judge(evidence, Options())
    assert judgement.verdict is Verdict.WRONG


def test_digits_beside_the_path_do_not_excuse_a_rule() -> None:
    def computed(m: Any, x: Any) -> Any:
        place = m.truncate(m.mul(m.constant(np.float32(1.5)), m.constant(np.float32(0.75))))
        return m.reshape(m.take(m.tanh(x), m.reshape(place, shape=(1,)), axis=0), shape=())

    program = program_of(computed, [0.5, 0.25])
    with planted("tanh", lambda op: replace(op, slopes=(lambda m, y, x: (1 - y * y) * (1 + 1e-5),))):
        recorded = derive(program)
    (judgement,) = judge_recorded(program, recorded, observed(recorded))
    assert judgement.verdict is Verdict.WRONG


@pytest.mark.parametrize(("returned", "verdict"), [(np.inf, "nonfinite"), (1.0, "unverified")])
def test_a_true_gradient_too_large_for_float64_is_still_a_number(returned: float, verdict: str) -> None:
    build = Builder()
    x = build.input(np.array([1000.0, 1.0]))
    y = build.add(
        "sum", build.add("exp", x, dtype="float64", shape=(2,)), params={"axes": (0,)}, value=np.inf
    )
    (found,) = judge(Evidence(build.build([y]), (x,), (np.array([returned, np.e]),)), Options())
    assert str(found.verdict) == verdict
    assert found.reason is not None and "too large for a float64" in found.reason


def test_an_entry_beside_one_without_a_derivative_is_not_called_too_large() -> None:
    def angle(m: Any, x: Any) -> Any:
        return m.acos(total(m, m.mul(x, m.literal(np.array([1.0, 0.0])))))

    program = program_of(angle, [1.0, 0.0])
    (found,) = judge(Evidence(program, program.inputs, (np.array([-np.inf, np.nan]),)), Options())
    assert found.verdict is Verdict.NONFINITE
    assert found.reason == "an entry that has a derivative is not finite; another entry has none"


def test_a_target_without_a_value_has_no_correct_gradient() -> None:
    build = Builder()
    x = build.input(np.array(1.0))
    log = build.add("log", build.add("sub", x, build.constant(2.0), value=-1.0), value=np.nan)
    nothing = build.add("mul", build.constant(0.0), log, value=np.nan)
    y = build.add("add", build.add("square", x, value=1.0), nothing, value=np.nan)
    (found,) = judge(Evidence(build.build([y]), (x,), (np.array(2.0),)), Options())
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "`log` has no value" in found.reason


@pytest.mark.parametrize(
    ("chosen", "verdict"), [([np.nan, np.nan], Verdict.UNDEFINED), ([np.nan, 3.0], Verdict.UNVERIFIED)]
)
def test_nan_that_is_written_down_is_no_gap_in_the_data(chosen: list[float], verdict: Verdict) -> None:
    def f(m: Any, x: Any) -> Any:
        condition = m.constant(np.array([True, True]))
        return total(m, m.mul(m.select(condition, m.constant(np.array(chosen)), m.constant(np.zeros(2))), x))

    (judgement,) = judge_own(program_of(f, [1.0, 2.0]))
    assert judgement.verdict is verdict


def test_no_reference_is_computed_for_a_nan_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradproof.judge.judge.find_reference", lambda *given: pytest.fail("computed"))
    (judgement,) = judge_own(program_of(lambda m, x: total(m, m.tanh(x)), [np.nan, 1.0]))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert judgement.reason == NO_NUMBER_GIVEN

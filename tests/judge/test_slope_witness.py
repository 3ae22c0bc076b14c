"""The slope witness: a broken derivative rule of any op is caught, told as our fault, and never becomes a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import derive, vjp
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import GradproofError
from gradproof.ir.program import Builder, Program
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.slope_witness import WITNESSED_ENTRIES
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE, Op, Sample
from gradproof.options import Options

OFF = 1.0 + 2.0**-12  # far less than a tolerance of any dtype would show
ALWAYS = Options(witness=True)


def _program(op: Op, sample: Sample) -> Program:
    """inputs -> op -> one number: the results weighted with dyadic numbers, so that every entry counts."""
    builder, rng = Builder(), np.random.default_rng(5)
    m = Tracer(builder, phase="forward")
    result = getattr(m, op.name)(*(_argument(builder, m, value) for value in sample.inputs), **sample.params)
    total: Any = None
    for part in result if isinstance(result, tuple) else (result,):
        if part.value.dtype.kind in "fc":
            weights = rng.integers(8, 16, part.shape) * rng.choice([-1.0, 1.0], part.shape) / 8.0
            if part.value.dtype.kind == "c":  # the imaginary part counts too
                part = m.add(m.real(part), m.mul(m.imag(part), m.literal(np.asarray(0.5))))
            term = m.sum(m.mul(part, m.literal(weights)), axes=tuple(range(part.ndim)))
            total = term if total is None else m.add(total, term)
    return builder.build([total.id])


def _argument(builder: Builder, tracer: Tracer, value: Any) -> Traced:
    array = np.asarray(value)
    if array.dtype.kind in "biu":
        return Traced(tracer, builder.constant(array), array)
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return Traced(tracer, builder.input(array), array)


def _judged(program: Program, options: Options = ALWAYS) -> tuple[Judgement, ...]:
    """What is said of the gradient that the engine's own rules give in float64."""
    result = run(Ieee(), program)
    observed = [np.asarray(g) for g in vjp(result, [result.m.literal(np.ones(()))])]
    return judge(Evidence(program, program.inputs, tuple(observed)), options)


@contextmanager
def _broken(op: Op, index: int, by: float = OFF) -> Iterator[None]:
    """The rule of an op for one of its inputs, a little off."""

    def off(m: Any, value: Any) -> Any:
        return value if value is None else m.mul(m.literal(np.asarray(by)), value)

    def slope(m: Any, *args: Any, **params: Any) -> Any:
        assert op.slopes is not None and op.slopes[index] is not None
        value = op.slopes[index](m, *args, **params)  # type: ignore[misc]
        return off(m, m.literal(np.asarray(float(value))) if isinstance(value, int) else value)

    def pullback(m: Any, i: int, *args: Any, **params: Any) -> Any:
        assert op.pullback is not None
        value = op.pullback(m, i, *args, **params)
        return off(m, value) if i == index else value

    if op.slopes is not None:
        mended = replace(op, slopes=(*op.slopes[:index], slope, *op.slopes[index + 1 :]))
    else:
        mended = replace(op, pullback=pullback)
    TABLE[op.name] = mended
    try:
        yield
    finally:
        TABLE[op.name] = op


def _real_inputs(sample: Sample) -> list[int]:
    return [k for k, value in enumerate(sample.inputs) if np.asarray(value).dtype.kind in "fc"]


OPS = [
    pytest.param(op, id=op.name)
    for op in TABLE.values()
    if (op.slopes is not None or op.pullback is not None) and op.name != "stop_gradient"
]


@pytest.mark.parametrize("op", OPS)
def test_a_broken_rule_is_told_as_our_fault_and_never_becomes_a_verdict(op: Op) -> None:
    caught = sum(_caught(op, sample, index) for sample in op.samples for index in _real_inputs(sample))
    assert caught, f"no rule of {op.name} was tried"


def _caught(op: Op, sample: Sample, index: int) -> bool:
    """Whether a rule could be broken here; it is then seen that it was caught."""
    program = _program(op, sample)
    if not any(node.op == op.name for node in program.nodes):
        return False  # the conjugate of real numbers
    source = _real_inputs(sample).index(index)
    try:
        honest = _judged(program)[source]
        with _broken(op, index):
            found = _judged(program)[source]
    except GradproofError:
        return False  # no rule for an argument; another sample covers the others
    assert "a fault of gradproof" not in (honest.reason or ""), honest.reason
    if honest.verdict is not Verdict.CORRECT or honest.enclosure is None or not np.any(honest.enclosure.mid):
        return False  # a slope of zero cannot be off by a factor
    assert found.verdict is Verdict.UNVERIFIED, (index, found)
    assert "a fault of gradproof" in (found.reason or ""), found.reason
    return True


def _built(*values: Any) -> tuple[Builder, Tracer, list[Traced]]:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    return builder, m, [_argument(builder, m, value) for value in values]


def _faults(found: tuple[Judgement, ...]) -> list[bool]:
    return ["a fault of gradproof" in (one.reason or "") for one in found]


def test_the_rule_that_departs_is_named() -> None:
    builder, m, (x,) = _built(0.7)
    program = builder.build([m.exp(m.tanh(x)).id])
    with _broken(TABLE["tanh"], 0):
        (found,) = _judged(program)
    assert "the rule of `tanh` departs" in (found.reason or "")
    assert found.enclosure is None, "no reference is shown that is not believed"


def test_only_the_gradients_that_the_rule_touches_are_withdrawn() -> None:
    builder, m, (x, y) = _built(0.7, 0.3)
    program = builder.build([m.add(m.exp(x), m.sin(y)).id])
    with _broken(TABLE["sin"], 0):
        found = _judged(program)
    assert _faults(found) == [False, True]
    assert found[0].verdict is Verdict.CORRECT


def test_what_a_stopped_gradient_holds_does_not_move() -> None:
    builder, m, (x,) = _built((0.7, 1.3))
    program = builder.build([m.sum(m.mul(m.stop_gradient(m.exp(x)), x), axes=(0,)).id])
    assert _faults(_judged(program)) == [False]
    with _broken(TABLE["mul"], 1):
        assert _faults(_judged(program)) == [True]


def test_decisions_stay_as_taken_beside_a_tie() -> None:
    """Both sides of the tie have the slope 1; only with its decisions as taken is the function smooth there."""
    builder, m, (x,) = _built(0.0)
    square, line = m.square(x), m.tanh(x)
    branches = m.add(square, line), m.sub(line, square)
    program = builder.build([m.select(m.greater(x, 0.0), *branches).id])
    (found,) = _judged(program)
    assert found.verdict is Verdict.CORRECT and not _faults((found,))[0]
    with _broken(TABLE["tanh"], 0):
        assert _faults(_judged(program)) == [True]


def test_a_node_inside_the_program_is_moved_by_itself() -> None:
    builder, m, (x,) = _built(0.7)
    inner = m.exp(x)
    program = builder.build([m.mul(m.sin(inner), x).id])
    wrt = (x.id, inner.id)
    result = run(Ieee(), program)
    observed = tuple(np.asarray(g) for g in vjp(result, [result.m.literal(np.ones(()))], wrt))
    found = judge(Evidence(program, wrt, observed), ALWAYS)
    assert [one.verdict for one in found] == [Verdict.CORRECT] * 2


@pytest.mark.parametrize("point", [0.0, 1e-300, 1e-30, 3e-39, 1.0 + 2.0**-52])
def test_curves_are_not_mistaken_for_slopes(point: float) -> None:
    """The cube at zero, and functions that are steep beside the point."""
    builder, m, (x,) = _built(point)
    terms = [m.mul(m.square(x), x)]
    if point:
        terms += [m.sqrt(x), m.log(x)]
    if point > 1.0:
        terms.append(m.sqrt(m.sub(x, 1.0)))
    total = terms[0]
    for term in terms[1:]:
        total = m.add(total, term)
    assert _faults(_judged(builder.build([total.id]))) == [False]


def test_the_gradient_of_a_gradient_is_witnessed_too() -> None:
    builder, m, (x,) = _built((0.7, 1.3))
    first = derive(builder.build([m.sum(m.exp(m.sin(x)), axes=(0,)).id])).program
    again = Builder()
    again.nodes, again.inputs = list(first.nodes), list(first.inputs)
    again.next_id = 1 + max(node.id for node in first.nodes)
    gradient = first[first.outputs[0]]
    total = again.add("sum", gradient.id, params={"axes": (0,)}, value=gradient.value.sum())
    program = again.build([total])
    assert _faults(_judged(program)) == [False]
    with _broken(TABLE["cos"], 0):
        assert _faults(_judged(program)) == [True]


def test_a_large_program_is_witnessed_where_it_is_asked_for() -> None:
    builder, m, (x,) = _built(np.linspace(0.1, 1.0, WITNESSED_ENTRIES))
    program = builder.build([m.sum(m.exp(x), axes=(0,)).id])
    with _broken(TABLE["exp"], 0):
        assert _faults(_judged(program, Options())) == [False]
        assert _faults(_judged(program, ALWAYS)) == [True]


def test_an_accusation_is_witnessed_in_large_programs_too() -> None:
    """The gradient that ran is right; a rule of ours that is not would call it wrong."""
    builder, m, (x,) = _built(np.linspace(0.1, 1.0, WITNESSED_ENTRIES))
    program = builder.build([m.sum(m.exp(x), axes=(0,)).id])
    ran = derive(program).program
    observed = np.asarray(ran[ran.outputs[0]].value)
    evidence = Evidence(program, program.inputs, (observed,), (ran.outputs[0],), ran)
    assert judge(evidence, Options())[0].verdict is Verdict.CORRECT
    with _broken(TABLE["exp"], 0, 2.0):
        (found,) = judge(evidence, Options())
    assert found.verdict is Verdict.UNVERIFIED and _faults((found,)) == [True]

"""Bad input gets a clear error of gradproof, or a verdict with its reason: never a traceback from inside."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import derive
from gradproof.engine.run import run
from gradproof.errors import InvalidInput, InvalidProgram, NoDerivative, NotScalar
from gradproof.ir.program import Builder, Node, Program
from gradproof.ir.verify import verify
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

from .small import judge_own, judge_recorded, program_of, total

DOMAINS = (Ieee(), BallDomain64(), BallDomain(128))


def _exp(m: Any, x: Any) -> Any:
    return total(m, m.exp(x))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, [1.0, np.nan], [[np.inf], [2.0]]])
def test_inputs_that_are_no_numbers_are_unverified_with_that_reason(value: Any) -> None:
    (judgement,) = judge_own(program_of(_exp, value))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert judgement.reason == "an input of the function is NaN or infinite"


def test_an_input_that_is_no_number_leaves_the_gradients_of_others_judged() -> None:
    program = program_of(lambda m, x, y: m.add(m.mul(x, 2.0), m.mul(y, 0.0)), 1.0, np.nan)
    assert judge_own(program)[0].verdict in (Verdict.CORRECT, Verdict.UNVERIFIED)


@pytest.mark.parametrize("shape", [(0,), (1, 0), (0, 3), (3, 0, 2), ()])
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32", "float64"])
def test_empty_and_zero_dimensional_arrays_are_ordinary(shape: tuple[int, ...], dtype: Any) -> None:
    program = program_of(_exp, np.full(shape, 0.5), dtype=dtype)
    (judgement,) = judge_own(program)
    assert judgement.verdict is Verdict.CORRECT
    assert judgement.enclosure is not None
    assert judgement.enclosure.mid.shape == shape


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()]),
        np.array([None]),
        np.array(["one"]),
        np.array([b"one"]),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.array([3], "timedelta64[s]"),
        np.array([1.0], np.longdouble),
        np.zeros(1, [("a", float)]),
    ],
    ids=lambda array: str(array.dtype),
)
def test_unknown_dtypes_are_refused_by_name(array: Any) -> None:
    with pytest.raises(InvalidInput, match="have no exact meaning here"):
        Builder().input(array)


def test_ragged_lists_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not an array of numbers"):
        Builder().input([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
@pytest.mark.parametrize(
    ("op", "shapes", "params"),
    [
        ("add", ((2,), (3,)), {}),
        ("matmul", ((2, 2), (3, 3)), {}),
        ("matmul", ((2,), (2,)), {}),
        ("reshape", ((2, 2),), {"shape": (3,)}),
        ("sum", ((2,),), {"axes": (5,)}),
        ("sum", ((2,),), {"axis": 0}),
        ("transpose", ((2, 3),), {"order": (0, 0)}),
        ("concat", ((2, 3), (2, 2)), {"axis": 0}),
        ("add", ((2,),), {}),
        ("exp", ((2,), (2,)), {}),
    ],
)
def test_shapes_and_parameters_that_do_not_fit_name_the_node(
    domain: Any, op: str, shapes: Any, params: dict[str, Any]
) -> None:
    builder = Builder()
    ids = [builder.input(np.ones(shape)) for shape in shapes]
    builder.add(op, *ids, params=params, dtype="float64", shape=(2,))
    program = builder.build([len(ids)])
    with pytest.raises(InvalidProgram, match=f"= {op}"):
        run(domain, program)


def test_a_node_that_claims_another_shape_is_found() -> None:
    builder = Builder()
    x = builder.input(np.ones(2))
    y = builder.add("exp", x, dtype="float64", shape=(3,))
    with pytest.raises(InvalidProgram, match="claims shape"):
        run(BallDomain64(), builder.build([y]))


def test_an_op_that_is_not_in_the_table_is_named() -> None:
    builder = Builder()
    x = builder.input(np.ones(()))
    program = builder.build([builder.add("nonsense", x, dtype="float64", shape=())])
    with pytest.raises(InvalidProgram, match="nonsense: there is no op of this name"):
        run(BallDomain64(), program)


def test_an_opaque_node_on_the_way_is_the_reason() -> None:
    builder = Builder()
    x = builder.input(np.ones(()))
    program = builder.build([builder.add("opaque:Foo", x, value=np.ones(()))])
    with pytest.raises(NoDerivative, match="`Foo` has no exact meaning here"):
        derive(program)
    (judgement,) = judge(Evidence(program, (x,), (np.ones(()),)), Options())
    assert judgement.verdict is Verdict.UNVERIFIED
    assert "`Foo`" in str(judgement.reason)


_ONE = np.ones(2)
_INPUT = Node(0, "input", (), "float64", (2,), value=_ONE)


@pytest.mark.parametrize(
    ("nodes", "inputs", "outputs", "message"),
    [
        (
            [Node(0, "exp", (1,), "float64", (2,)), Node(1, "exp", (0,), "float64", (2,))],
            (),
            (1,),
            "not bound before",
        ),
        ([Node(0, "exp", (0,), "float64", (2,))], (), (0,), "not bound before"),
        ([_INPUT, Node(1, "exp", (7,), "float64", (2,))], (0,), (1,), "uses id 7"),
        ([_INPUT, Node(0, "exp", (0,), "float64", (2,))], (0,), (0,), "bound twice"),
        ([_INPUT], (0,), (5,), "output 5"),
        ([_INPUT], (3,), (0,), "input 3"),
        ([_INPUT, Node(1, "exp", (0,), "float64", (2,))], (1,), (1,), "listed as an input"),
        ([Node(0, "input", (), "float64", (2,))], (0,), (0,), "has no value"),
        ([Node(0, "input", (), "float64", (3,), value=_ONE)], (0,), (0,), "claims shape"),
        ([Node(0, "input", (), "float32", (2,), value=_ONE)], (0,), (0,), "claims dtype"),
        ([Node(0, "input", (), "quaternion", (2,), value=_ONE)], (0,), (0,), "unknown dtype"),
        ([_INPUT, Node(1, "exp", (0,), "float64", (2,), params={"k": _ONE})], (0,), (1,), "parameter 'k'"),
    ],
)
def test_programs_that_are_not_well_formed_are_refused(
    nodes: Any, inputs: Any, outputs: Any, message: str
) -> None:
    with pytest.raises(InvalidProgram, match=message):
        verify(Program(tuple(nodes), inputs, outputs))


def test_sources_and_outputs_that_are_not_there_are_named() -> None:
    program = program_of(_exp, [1.0])
    for call in (lambda: derive(program, wrt=[99]), lambda: derive(program, output=99)):
        with pytest.raises(InvalidProgram, match="id 99"):
            call()
    with pytest.raises(InvalidProgram, match="id 99"):
        judge(Evidence(program, (99,), (np.ones(1),)), Options())
    with pytest.raises(InvalidProgram, match="no output"):
        derive(program.with_outputs(()))
    with pytest.raises(NotScalar, match=r"shape \(2,\)"):
        derive(program_of(lambda m, x: m.exp(x), [1.0, 2.0]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones((2, 1)), r"shape \(2, 1\) was observed for a source of shape \(2,\)"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones(2, int), "dtype int64"),
        (np.ones(2, bool), "dtype bool"),
        (np.ones(2, complex), "complex gradient"),
        (np.array([None, 1.0]), "dtype object"),
    ],
)
def test_an_observed_gradient_that_cannot_be_one_is_refused(value: Any, message: str) -> None:
    program = program_of(_exp, [1.0, 2.0])
    with pytest.raises(InvalidInput, match=message):
        judge_recorded(program, derive(program), (value,))


def test_a_request_beyond_memory_says_how_much_it_would_take() -> None:
    program = program_of(lambda m, x: total(m, m.sin(m.exp(x))), np.full(1000, 30.0))
    (judgement,) = judge_own(program, Options(memory_limit_bytes=1000))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert (
        judgement.reason == "float64 balls for 3,001 numbers would take 93.8 KiB, and the limit is 1000 bytes"
    )


def _two_ways(m: Any, x: Any) -> Any:
    """sin 2x - 2 sin x cos x: the slope cancels to zero, which float64 balls cannot see."""
    return m.sub(m.sin(m.mul(2.0, x)), m.mul(2.0, m.mul(m.sin(x), m.cos(x))))


def test_memory_that_suffices_for_the_first_rung_only_ends_the_climb_there() -> None:
    program = program_of(lambda m, x: total(m, _two_ways(m, x)), np.linspace(0.0, 1.0, 50))
    (judgement,) = judge_own(program, Options(memory_limit_bytes=16_000))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert str(judgement.reason).startswith("balls of 128 bits for")
    assert "the limit is 15.6 KiB" in str(judgement.reason)
    assert judge_own(program)[0].verdict is Verdict.CORRECT


def test_a_time_limit_is_the_reason_where_it_ends_the_climb() -> None:
    program = program_of(_two_ways, 1.5)
    derived = derive(program)
    (judgement,) = judge_recorded(program, derived, (np.asarray(0.0),), Options(seconds=0.0))
    assert judgement.verdict is Verdict.UNVERIFIED
    assert "time limit" in str(judgement.reason)


@pytest.mark.parametrize(
    ("function", "value", "verdicts"),
    [
        (lambda m, x: m.log(x), -1.0, (Verdict.UNVERIFIED, Verdict.UNDEFINED)),
        (lambda m, x: m.log(x), 0.0, (Verdict.UNDEFINED,)),
        (lambda m, x: m.div(1.0, x), 0.0, (Verdict.UNDEFINED,)),
        (lambda m, x: m.sqrt(x), 0.0, (Verdict.UNDEFINED, Verdict.UNVERIFIED)),
        (lambda m, x: m.exp(x), 1e4, (Verdict.UNVERIFIED, Verdict.NONFINITE)),
        (lambda m, x: m.exp(x), 1e300, (Verdict.UNVERIFIED, Verdict.NONFINITE)),
        (lambda m, x: m.sin(x), 1e300, (Verdict.CORRECT, Verdict.INACCURATE)),
        (lambda m, x: m.integer_power(x, exponent=10**9), 2.0, (Verdict.UNVERIFIED, Verdict.NONFINITE)),
    ],
)
def test_points_without_a_gradient_or_beyond_float64_get_an_honest_verdict(
    function: Any, value: float, verdicts: tuple[Verdict, ...]
) -> None:
    (judgement,) = judge_own(program_of(function, value))
    assert judgement.verdict in verdicts
    assert judgement.reason or judgement.verdict in (Verdict.CORRECT, Verdict.INACCURATE, Verdict.NONFINITE)

"""Entrywise ops where a formula breaks down but the function does not, and what derivatives are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import derive, gradient
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import NoDerivative
from gradproof.ir.program import Builder, Program
from gradproof.ops import TABLE
from gradproof.ops.bessel import bessel_ie
from gradproof.ops.complex import angle, modulus

from .sampling import op_samples, program_of

NAN = float("nan")


def _program(function: Callable[..., Any], *inputs: Any) -> Program:
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    arguments = [Traced(tracer, builder.input(np.asarray(x)), np.asarray(x)) for x in inputs]
    return builder.build([function(tracer, *arguments).id])


def _slopes(program: Program, domain: Any) -> list[Any]:
    """The gradient, as numbers; NaN where there is no finite one."""
    found = []
    for entry in gradient(domain, program):
        mid, rad = domain.leave(entry)
        assert rad <= abs(mid) * 1e-14 + 1e-300 or not np.isfinite(rad)
        found.append(mid.item() if np.isfinite(rad) else NAN)
    return found


# Where the true derivative exists though a factor of its formula is 0/0, 0 * inf or inf - inf.
HARD_POINTS: dict[str, tuple[Callable[..., Any], tuple[float, ...], tuple[float, ...]]] = {
    "x**0 at 0": (lambda m, x: m.power(x, 0), (0.0,), (0.0,)),
    "x**1 at 0": (lambda m, x: m.power(x, 1), (0.0,), (1.0,)),
    "x**2 at 0": (lambda m, x: m.power(x, 2), (0.0,), (0.0,)),
    "x**2 at -3": (lambda m, x: m.power(x, np.asarray(2.0)), (-3.0,), (-6.0,)),
    "0**y": (lambda m, x, y: m.power(x, y), (0.0, 1.5), (0.0, 0.0)),
    "x**0 by integer power at 0": (lambda m, x: m.integer_power(x, exponent=0), (0.0,), (0.0,)),
    "xlogy at x = 0": (lambda m, x, y: m.xlogy(x, y), (0.0, 1.0), (0.0, 0.0)),
    "xlogy at 0, 0": (lambda m, x, y: m.xlogy(x, y), (0.0, 0.0), (NAN, 0.0)),
    "xdivy at x = 0": (lambda m, x, y: m.xdivy(x, y), (0.0, 4.0), (0.25, 0.0)),
    "logaddexp of equals": (lambda m, a, b: m.logaddexp(a, b), (3.0, 3.0), (0.5, 0.5)),
    "sinc at 0": (lambda m, x: m.sinc(x), (0.0,), (0.0,)),
    "spence at 1": (lambda m, x: m.spence(x), (1.0,), (-1.0,)),
    "I1 at 0": (lambda m, x: m.bessel_i(x, order=1), (0.0,), (0.5,)),
    "J1 at 0": (lambda m, x: m.bessel_j(x, order=1), (0.0,), (0.5,)),
    "igamma at x = 0": (lambda m, x: m.igamma(1, x), (0.0,), (1.0,)),
    "atan2 across its cut": (lambda m, y, x: m.atan2(y, x), (0.0, -2.0), (-0.5, 0.0)),
    "sqrt at 0": (lambda m, x: m.sqrt(x), (0.0,), (NAN,)),
    "power below 1 at 0": (lambda m, x: m.power(x, np.asarray(0.5)), (0.0,), (NAN,)),
}


@pytest.mark.parametrize("domain", [BallDomain(128), BallDomain64()], ids=["balls", "float64 balls"])
@pytest.mark.parametrize(("function", "inputs", "expected"), HARD_POINTS.values(), ids=list(HARD_POINTS))
def test_the_true_derivative_is_found_where_the_formula_breaks_down(
    function: Callable[..., Any], inputs: tuple[float, ...], expected: tuple[float, ...], domain: Any
) -> None:
    np.testing.assert_allclose(_slopes(_program(function, *inputs), domain), expected, rtol=1e-14)


SECOND = {
    "x**1 at 0": (lambda m, x: m.power(x, 1), 0.0, 0.0),
    "x**2 at 0": (lambda m, x: m.power(x, 2), 0.0, 2.0),
    "logaddexp(x, 0) at 0": (lambda m, x: m.logaddexp(x, np.asarray(0.0)), 0.0, 0.25),
    "sinc at 0": (lambda m, x: m.sinc(x), 0.0, -1 / 3),
    "spence at 1": (lambda m, x: m.spence(x), 1.0, 0.5),
    "J0 at 0": (lambda m, x: m.bessel_j(x, order=0), 0.0, -0.5),
    "I0 at 0": (lambda m, x: m.bessel_i(x, order=0), 0.0, 0.5),
    "lgamma at 1": (lambda m, x: m.lgamma(x), 1.0, np.pi**2 / 6),
}


@pytest.mark.parametrize(("function", "x", "expected"), SECOND.values(), ids=list(SECOND))
def test_so_is_the_second_derivative(function: Callable[..., Any], x: float, expected: float) -> None:
    first = derive(_program(function, x)).program
    np.testing.assert_allclose(_slopes(first, BallDomain(128)), [expected], rtol=1e-14)


def test_both_slopes_stay_right_in_saturation() -> None:
    """1 - sigmoid(x) would have lost every digit here."""
    for function in (lambda m, x: m.sigmoid(x), lambda m, x: m.softplus(-x), lambda m, x: -m.log_sigmoid(x)):
        (slope,) = _slopes(_program(function, 60.0), BallDomain64())
        assert abs(abs(slope) / np.exp(-60.0) - 1) < 1e-13


@pytest.mark.parametrize("x", [2.5, -2.5, 0.75])
def test_scaled_bessel_functions_branch_on_the_sign_openly(x: float) -> None:
    from scipy import special

    for order, value in ((0, special.i0e), (1, special.i1e), (2, lambda x: special.ive(2, x))):
        program = _program(partial(bessel_ie, order=order), x)
        assert any(TABLE[node.op].is_decision for node in program.nodes if node.op in TABLE)
        np.testing.assert_allclose(run(Ieee(), program).outputs()[0], value(x), rtol=1e-14)
        h = 1e-6
        (slope,) = _slopes(program, BallDomain(128))
        np.testing.assert_allclose(slope, (value(x + h) - value(x - h)) / (2 * h), rtol=1e-8)


def test_modulus_and_angle_have_gradients_in_both_parts() -> None:
    z = 3.0 - 4.0j
    (by_modulus,) = gradient(BallDomain(128), _program(modulus, z))
    (by_angle,) = gradient(BallDomain(128), _program(angle, z))
    np.testing.assert_allclose(BallDomain(128).leave(by_modulus)[0], z / 5, rtol=1e-15)
    np.testing.assert_allclose(BallDomain(128).leave(by_angle)[0], 1j * z / 25, rtol=1e-15)


ENTRYWISE = [
    case for case in op_samples(smooth=True) if case.values[0].slopes and case.values[0].name != "cast"
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(("op", "sample"), ENTRYWISE)
def test_derivatives_keep_the_dtype_of_the_program(op: Any, sample: Any, dtype: str) -> None:
    """A constant in a rule must not widen what the framework would have rounded."""
    integers = any(np.asarray(x).dtype.kind in "iu" for x in sample.inputs)
    if integers or any(np.iscomplexobj(x) for x in sample.inputs):
        pytest.skip("integer and complex inputs bring a dtype of their own")
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    narrow = [np.asarray(x).astype(dtype) for x in sample.inputs]
    result = getattr(tracer, op.name)(*(Traced(tracer, builder.input(x), x) for x in narrow), **sample.params)
    total = tracer.sum(result, axes=tuple(range(result.ndim)))
    try:
        program = derive(builder.build([total.id])).program
    except NoDerivative as error:
        pytest.skip(str(error))
    assert {node.dtype for node in program.nodes} <= {dtype, "bool", "int64"}


def test_every_entrywise_op_can_be_run_by_every_domain() -> None:
    for case in ENTRYWISE:
        op, sample = case.values
        program = program_of(op, sample)
        for domain in (Ieee(), BallDomain(64)):
            for value in run(domain, program).outputs():
                assert np.isfinite(np.asarray(domain.leave(value)[0])).all(), (op.name, domain.name)

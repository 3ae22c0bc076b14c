"""Every float64 function keeps its proven bound at easy, hard and special points; `arb` is the judge."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb

from gradproof.domains import exp64, log64, trig64
from gradproof.domains.elementary64 import FUNCTIONS
from gradproof.domains.enclosure64 import Elementary, evaluate
from gradproof.domains.rounding64 import Bound

Array = np.ndarray[Any, Any]


def _softplus(x: arb) -> arb:
    return (
        x + (-x).exp().log1p() if x > 0 else x.exp().log1p()
    )  # the same for any x, but huge ones do not overflow


EXACT: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "expm1": arb.expm1,
    "log": arb.log,
    "log1p": arb.log1p,
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "atan": arb.atan,
    "tanh": arb.tanh,
    "sigmoid": lambda x: 1 / (1 + (-x).exp()) if x > 0 else x.exp() / (1 + x.exp()),
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "sinh": arb.sinh,
    "cosh": arb.cosh,
    "erf": arb.erf,
    "erfc": arb.erfc,
    "sqrt": arb.sqrt,
    "rsqrt": arb.rsqrt,
    "asin": arb.asin,
    "acos": arb.acos,
    "asinh": arb.asinh,
    "acosh": arb.acosh,
    "atanh": arb.atanh,
}

# An interval in which a function is defined, where it is not the usual one.
_USUAL = (0.05, 1.4)
_INTERVALS = {"asin": (0.05, 0.9), "acos": (0.05, 0.9), "atanh": (0.05, 0.9), "acosh": (1.05, 2.4)}

# Where branches, reductions and saturations switch; the neighbours of each are tried as well.
SWITCHES = (0.0, 0.5**0.5, 2**0.5, 0.4142, 2.414, 0.5, 3.0, 22.0, 26.6, 26.7, 708.0, 709.0, 1.0, 2.0**17)
SPECIAL = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.0**-1022,
    -(2.0**-1022),
    1e-310,
    2.0**-53,
    -(2.0**-53),
    1e308,
    -1e308,
)


@pytest.fixture(autouse=True)
def _precision() -> Any:
    with flint.ctx.workprec(128):
        yield


def interval(name: str) -> tuple[float, float]:
    return _INTERVALS.get(name, _USUAL)


def points() -> Array:
    """20,000 numbers: all scales, the usual range, multiples of ln 2 / 2 and pi / 2, special values."""
    rng = np.random.default_rng(20)
    sign = rng.choice([-1.0, 1.0], 6000)
    scales = sign * 10.0 ** np.concatenate([rng.uniform(-320, 308, 1000), rng.uniform(-20, 5.2, 5000)])
    usual = rng.uniform(-30.0, 30.0, 6000)
    near_one = 1.0 + sign[:2000] * 2.0 ** rng.uniform(-53, -1, 2000)
    halves = (rng.integers(-1020, 1020, 1000) + 0.5) * math.log(2.0)
    quarters = rng.integers(-83000, 83000, 4000) * (math.pi / 2)  # the doubles nearest to zeros and poles
    below_one = sign[:1000] * (1.0 - 2.0 ** rng.uniform(-53, -1, 1000))
    switches = np.array([s * x for x in SWITCHES for s in (1.0, -1.0)])
    steps = [np.nextafter(switches, side) for side in (-np.inf, np.inf)]
    return np.concatenate(
        [scales, usual, near_one, halves, quarters, 3 * quarters[:1000], below_one, switches, *steps, SPECIAL]
    )


def errors(name: str, x: Array, y: Array, ok: Array) -> Array:
    """|y - f(x)| as floats, rounded upwards; zero where nothing is claimed."""
    exact = EXACT[name]
    pairs = zip(x.tolist(), y.tolist(), ok.tolist(), strict=True)
    return np.array([_upper(arb(b) - exact(arb(a))) if good else 0.0 for a, b, good in pairs])


def _upper(x: arb) -> float:
    return float(x.abs_upper()) * (1.0 + 2.0**-52)


def excess(name: str, function: Elementary, bound: Bound, x: Array) -> float:
    """The largest error as a multiple of the bound: above 1 the bound is broken."""
    y, ok = evaluate(function, x)
    with np.errstate(invalid="ignore"):
        return float(np.max(errors(name, x, y, ok) / np.where(ok, bound.error(x, y), 1.0)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bound_holds_everywhere_and_a_much_smaller_one_would_not(name: str) -> None:
    function = FUNCTIONS[name]
    x = points()
    worst = excess(name, function, function.error, x)
    assert worst <= 1.0
    claimed = function.error
    smaller = Bound(claimed.relative * worst / 4, claimed.absolute, claimed.argument)
    assert excess(name, function, smaller, x) > 1.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bound_is_not_needlessly_wide(name: str) -> None:
    function = FUNCTIONS[name]
    assert excess(name, function, function.error, points()) > 0.1


@pytest.mark.parametrize(
    ("module", "constant", "name"),
    [
        (exp64, "EXP_POLYNOMIAL", "exp"),
        (exp64, "EXP_POLYNOMIAL", "tanh"),
        (log64, "ARTANH_POLYNOMIAL", "log1p"),
        (trig64, "SIN_POLYNOMIAL", "sin"),
        (trig64, "COS_POLYNOMIAL", "cos"),
        (trig64, "ATAN_POLYNOMIAL", "atan"),
    ],
)
def test_a_coefficient_that_is_off_in_its_thirteenth_digit_is_noticed(
    monkeypatch: pytest.MonkeyPatch, module: Any, constant: str, name: str
) -> None:
    first, *others = getattr(module, constant)
    monkeypatch.setattr(module, constant, (first * (1.0 + 1e-12), *others))
    function = FUNCTIONS[name]
    assert excess(name, function, function.error, points()) > 1.0


@pytest.mark.parametrize(
    ("module", "constant", "name"),
    [(exp64, "LN2_LOW", "exp"), (log64, "LN2_LOW", "log"), (trig64, "QUARTER_3", "sin")],
)
def test_a_reduction_without_its_last_part_is_noticed(
    monkeypatch: pytest.MonkeyPatch, module: Any, constant: str, name: str
) -> None:
    monkeypatch.setattr(module, constant, 0.0)
    function = FUNCTIONS[name]
    assert excess(name, function, function.error, points()) > 1.0


OUTSIDE = {
    "exp": [709.1, 1e308],
    "expm1": [709.1],
    "sinh": [709.1, -709.1],
    "cosh": [709.1, -709.1],
    "log": [0.0, -0.0, -1.0, 5e-324, -1e308],
    "log1p": [-1.0, -1.5, -1e308],
    "sin": [131073.0, -1e308],
    "cos": [131073.0, -1e308],
    "tan": [131073.0, math.pi / 2],
    "sqrt": [-1.0, -5e-324],
    "rsqrt": [0.0, 5e-324, -1.0],
    "asin": [1.0, -1.0, 1.5],
    "acos": [1.0, -1.0, 1.5],
    "atanh": [1.0, -1.0, 1.5],
    "acosh": [0.99, -2.0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_claim_is_made_outside_the_range_nor_for_what_is_not_a_number(name: str) -> None:
    outside = np.array([np.nan, np.inf, -np.inf, *OUTSIDE.get(name, [])])
    y, ok = evaluate(FUNCTIONS[name], np.concatenate([outside, [interval(name)[0]]]))
    assert not ok[:-1].any()
    assert ok[-1]
    assert np.isnan(y[:-1]).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_are_kept_and_inputs_left_alone(name: str) -> None:
    for shape in [(), (0,), (3, 0), (2, 3), (20000,)]:
        x = np.full(shape, interval(name)[1])
        y, ok = evaluate(FUNCTIONS[name], x)
        assert y.shape == ok.shape == shape
        assert (x == interval(name)[1]).all()
    strided = np.linspace(*interval(name), 40).reshape(8, 5).T[::2]
    flat = evaluate(FUNCTIONS[name], strided.copy())[0]
    assert (evaluate(FUNCTIONS[name], strided)[0] == flat).all()

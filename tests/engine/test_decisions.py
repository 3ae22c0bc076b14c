"""What the sides of a tie have in common, and where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.decisions import Sides, sides
from gradproof.engine.derive import gradient
from gradproof.engine.run import Policy
from gradproof.errors import NotScalar
from gradproof.ir.program import Builder

from ..ops.entries import program, total

DOMAINS = [pytest.param(domain, id=domain.name) for domain in (BallDomain64(), BallDomain(128))]


def number(m: Any, value: float) -> Any:
    return m.literal(np.asarray(value))


def larger(m: Any, a: Any, b: Any) -> Any:
    return m.select(m.greater(a, b), a, b)


def smaller(m: Any, a: Any, b: Any) -> Any:
    return m.select(m.less(a, b), a, b)


def relu(m: Any, x: Any) -> Any:
    return larger(m, x, number(m, 0.0))


def size(m: Any, x: Any) -> Any:
    return m.select(m.greater_equal(x, number(m, 0.0)), x, -x)


def entry(m: Any, x: Any, k: int) -> Any:
    return m.reshape(m.strided_slice(x, begin=(k,), end=(k + 1,)), shape=())


def largest(m: Any, x: Any) -> Any:
    place = m.reshape(m.argmax(x, axis=0), shape=(1,))
    return m.reshape(m.take_along(x, place, axis=0), shape=())


def in_order(m: Any, x: Any) -> Any:
    return m.take_along(x, m.argsort(x, axis=0), axis=0)


def celu(m: Any, x: Any) -> Any:
    return m.add(relu(m, x), m.expm1(smaller(m, x, number(m, 0.0))))


def step_in_value(m: Any, x: Any) -> Any:
    return m.select(m.greater(x, number(m, 0.5)), m.mul(x, 2.0), m.div(x, 2.0))


def found_at(function: Any, *xs: Any, domain: Any) -> Sides:
    return sides(program(function, *(np.asarray(x, np.float64) for x in xs)), domain)


def derivative(function: Any, found: Sides, *xs: Any) -> list[Any]:
    """The gradient on the side that `found` names."""
    source = program(function, *(np.asarray(x, np.float64) for x in xs))
    domain = BallDomain(128)
    return [
        domain.leave(g)[0].tolist()
        for g in gradient(domain, source, policy=Policy(decisions=found.decisions))
    ]


AGREEING: list[tuple[str, Any, list[Any], Any]] = [
    ("both sides of celu have slope 1", celu, [0.0], 1.0),
    ("the square of a size is smooth", lambda m, x: m.square(size(m, x)), [0.0], 0.0),
    (
        "the sum of sorted numbers is their sum",
        lambda m, x: total(m, in_order(m, x)),
        [[1.0, 1.0, 0.0]],
        [1.0] * 3,
    ),
    ("x**2 is never below 0", lambda m, x: larger(m, m.square(x), number(m, 0.0)), [0.0], 0.0),
    (
        "only second order says that x**2 is above 0 beside 0",
        lambda m, x: total(m, m.select(m.greater(m.square(x), number(m, 0.0)), m.mul(x, 2.0), x)),
        [[0.0] * 8],
        [2.0] * 8,
    ),
    (
        "second order decides also where first order is equal and the numbers are large",
        lambda m, x: m.select(m.greater(m.add(m.square(x), x), x), m.mul(x, 2.0), x),
        [0.0],
        2.0,
    ),
    (
        "the largest stays equal to itself",
        lambda m, x: total(m, m.select(m.equal(x, largest(m, x)), m.mul(x, 2.0), x)),
        [[3.0, 1.0]],
        [2.0, 1.0],
    ),
    ("a test for NaN is no tie", lambda m, x: m.select(m.equal(x, x), x, m.mul(x, 2.0)), [1.0], 1.0),
    ("the same function twice", lambda m, x: larger(m, m.tanh(x), m.tanh(x)), [0.0], 1.0),
    ("far from every tie", relu, [1.0], 1.0),
]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("function", "xs", "slope"), [pytest.param(*case[1:], id=case[0]) for case in AGREEING]
)
def test_sides_that_agree_have_a_derivative(function: Any, xs: list[Any], slope: Any, domain: Any) -> None:
    found = found_at(function, *xs, domain=domain)
    assert found.fact == "agree", found.reason
    assert derivative(function, found, *xs) == [slope]
    assert not found.slopes
    assert not found.guilty


def test_the_recorded_branches_alone_would_give_a_wrong_derivative_of_celu() -> None:
    found = found_at(celu, 0.0, domain=BallDomain(128))
    assert derivative(celu, found, 0.0) == [1.0]
    source = program(celu, np.asarray(0.0))
    assert gradient(BallDomain(128), source)[0] == 0  # neither x > 0 nor x < 0


KINKS: list[tuple[str, Any, list[Any], dict[tuple[int, ...], tuple[float, float]]]] = [
    ("relu at 0", relu, [0.0], {(): (0.0, 1.0)}),
    ("the larger of two equal entries", largest, [[1.0, 1.0, 0.0]], {(0,): (0.0, 1.0), (1,): (0.0, 1.0)}),
    (
        "sorted numbers with weights",
        lambda m, x: total(m, m.mul(in_order(m, x), m.literal(np.arange(3.0)))),
        [[1.0, 1.0, 0.0]],
        {(0,): (1.0, 2.0), (1,): (1.0, 2.0)},
    ),
    (
        "the middle of three, which no entry moves alone",
        lambda m, x: entry(m, in_order(m, x), 1),
        [[1.0, 1.0, 1.0]],
        {(0,): (0.0, 0.0), (1,): (0.0, 0.0), (2,): (0.0, 0.0)},
    ),
    (
        "the smaller of two sizes, flat along both axes",
        lambda m, x: smaller(m, size(m, entry(m, x, 0)), size(m, entry(m, x, 1))),
        [[0.0, 0.0]],
        {(0,): (0.0, 0.0), (1,): (0.0, 0.0)},
    ),
    (
        "a wedge too narrow for random directions",
        lambda m, x: relu(m, m.sub(entry(m, x, 0), m.mul(size(m, entry(m, x, 1)), 1e6))),
        [[0.0, 0.0]],
        {(0,): (0.0, 1.0)},
    ),
    (
        "one of two decisions is innocent",
        lambda m, x: m.add(relu(m, x), m.square(size(m, x))),
        [0.0],
        {(): (0.0, 1.0)},
    ),
]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("function", "xs", "slopes"), [pytest.param(*case[1:], id=case[0]) for case in KINKS]
)
def test_sides_that_differ_are_a_kink_with_both_slopes(
    function: Any, xs: list[Any], slopes: dict[tuple[int, ...], tuple[float, float]], domain: Any
) -> None:
    found = found_at(function, *xs, domain=domain)
    assert found.fact == "kink"
    told = {side.index: (float(side.left.mid), float(side.right.mid)) for side in found.slopes}
    assert told.items() <= slopes.items()
    assert told
    assert found.jump == 0.0
    assert not found.decisions


def test_only_the_guilty_decision_is_named() -> None:
    source = program(lambda m, x: m.add(relu(m, x), m.square(size(m, x))), np.asarray(0.0))
    found = sides(source, BallDomain(128))
    assert len(found.ties) == 2
    assert [source[id].op for id in found.guilty] == ["greater"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_jump_is_told_with_its_size_and_its_side(domain: Any) -> None:
    found = found_at(step_in_value, 0.5, domain=domain)
    assert (found.fact, found.jump) == ("jump", 0.75)
    (side,) = found.slopes
    assert (side.jump_left, side.jump_right) == (0.0, 0.75)
    assert (float(side.left.mid), float(side.right.mid)) == (0.5, 2.0)


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_jump_reaches_later_decisions_and_integers(domain: Any) -> None:
    """floor(x) drops from 2 to 1 below 2; the comparison and the lookup behind it must follow."""

    def function(m: Any, x: Any) -> Any:
        step = m.floor(x)
        real = m.cast(step, dtype="float64")
        looked_up = m.take(m.literal(np.asarray([10.0, 20.0, 30.0])), step, axis=0)
        return m.add(m.select(m.greater(real, number(m, 1.5)), x, m.mul(x, 5.0)), looked_up)

    found = found_at(function, 2.0, domain=domain)
    assert found.fact == "jump"
    (side,) = found.slopes
    assert side.jump_left == (5 * 2.0 + 20.0) - (2.0 + 30.0)
    assert (float(side.left.mid), float(side.right.mid)) == (5.0, 1.0)


def test_an_isolated_value_is_a_jump() -> None:
    found = found_at(
        lambda m, x: m.select(m.equal(x, number(m, 0.0)), number(m, 1.0), x), 0.0, domain=BallDomain(128)
    )
    assert (found.fact, found.jump) == ("jump", 1.0)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_same_computation_twice_is_a_sure_tie(domain: Any) -> None:
    """No ball proves that tanh(0.3) equals tanh(0.3); the fingerprints of both do."""
    found = found_at(lambda m, x: largest(m, m.tanh(x)), [0.3, 0.3, 0.1], domain=domain)
    assert found.fact == "kink"
    assert [side.index for side in found.slopes] == [(0,), (1,)]
    assert all(float(side.left.mid) == 0.0 for side in found.slopes)
    assert all(abs(float(side.right.mid) - (1 - np.tanh(0.3) ** 2)) < 1e-15 for side in found.slopes)


def test_nearly_the_same_computation_is_no_tie() -> None:
    apart = np.nextafter(0.3, 1.0)
    assert found_at(lambda m, x: largest(m, m.tanh(x)), [0.3, apart], domain=BallDomain(128)).ties == ()


@pytest.mark.parametrize("domain", DOMAINS)
def test_numbers_that_may_be_equal_are_tried_on_both_sides(domain: Any) -> None:
    """sqrt(2)**2 is 2 for no finite precision; taking the branch of the midpoints would prove a slope."""
    found = found_at(lambda m, x, y: larger(m, m.square(m.sqrt(x)), y), 2.0, 2.0, domain=domain)
    assert found.fact == "cannot tell"


def test_numbers_that_may_be_equal_do_no_harm_where_the_sides_agree() -> None:
    found = found_at(lambda m, x: total(m, in_order(m, m.tanh(x))), [0.3, 0.3], domain=BallDomain(128))
    assert found.fact == "agree"


def test_an_unbounded_slope_beside_the_tie_is_said() -> None:
    found = found_at(lambda m, x: m.sqrt(relu(m, x)), 0.0, domain=BallDomain(128))
    assert found.fact == "cannot tell"
    assert found.reason is not None
    assert "unbounded" in found.reason


def test_an_opaque_op_on_the_way_is_the_reason() -> None:
    builder = Builder()
    x = builder.input(np.asarray(0.0))
    opaque = builder.add("opaque:Mystery", x, value=np.asarray(0.0))
    zero = builder.constant(np.asarray(0.0))
    positive = builder.add("greater", opaque, zero, value=np.asarray(False))
    found = sides(
        builder.build([builder.add("select", positive, opaque, zero, value=np.asarray(0.0))]), BallDomain(128)
    )
    assert found.fact == "cannot tell"
    assert found.reason is not None
    assert "Mystery" in found.reason


def test_many_kinks_are_counted_and_the_list_is_capped() -> None:
    source = program(lambda m, x: total(m, relu(m, x)), np.zeros(20))
    found = sides(source, BallDomain64(), max_entries=5)
    assert len(found.slopes) == 5
    assert found.differing[source.inputs[0]].sum() == 20


def test_only_what_is_asked_about_moves() -> None:
    source = program(lambda m, a, b: m.add(relu(m, a), b), np.asarray(0.0), np.asarray(2.0))
    assert sides(source, BallDomain(128), wrt=[source.inputs[1]]).fact == "agree"
    assert sides(source, BallDomain(128), wrt=[source.inputs[0]]).fact == "kink"


def test_more_than_one_number_is_refused() -> None:
    with pytest.raises(NotScalar):
        sides(program(relu, np.zeros(2)), BallDomain64())

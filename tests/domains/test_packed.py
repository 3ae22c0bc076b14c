"""Balls in plain memory: what goes in comes out, every call encloses, and there is a way without the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb

from gradproof.domains import flint_library
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import Ball64, BallDomain64
from gradproof.domains.flint_library import Library, library
from gradproof.domains.packed import from_objects, pack, to_objects, unpack, words_of
from gradproof.domains.packed_ball import UNARY, Packed, PackedBallDomain
from gradproof.engine.refine import arb_domain
from gradproof.errors import NotSupported
from gradproof.ir.program import Program

from ..small import program_of
from .rigor import BITS, HARD, encloses, hard_balls, hard_numbers, members

pytestmark = pytest.mark.skipif(library() is None, reason="the FLINT library cannot be called here")
DOMAIN = PackedBallDomain()
SEEDS = range(40)
BEYOND_ALL_DTYPES = arb(2) ** -(10**6)

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def _packed(x: Ball64) -> Packed:
    def one(mid: float, rad: float) -> arb:
        return arb(mid, rad) if np.isfinite(rad) else arb("nan")

    with DOMAIN.active():
        return Packed(from_objects(np.frompyfunc(one, 2, 1)(x.mid, x.radius())))


def _left(x: Any) -> Ball64:
    return Ball64(*DOMAIN.leave(x))


@pytest.mark.parametrize("seed", SEEDS)
def test_floats_are_entered_exactly_and_left_as_they_were(seed: int) -> None:
    x = np.append(hard_numbers(np.random.default_rng(seed), (40,)), HARD)
    mid, rad = DOMAIN.leave(DOMAIN.enter(x))
    np.testing.assert_array_equal(mid, x)
    assert (rad[np.abs(x) > 1e-270] == 0.0).all()
    with DOMAIN.active():
        assert all(entry == arb(value) for entry, value in zip(to_objects(pack(x)), x))


@pytest.mark.parametrize("seed", SEEDS)
def test_objects_survive_the_way_into_plain_memory_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with DOMAIN.active():
        balls = [
            arb(float(m), abs(float(r))) / 3
            for m, r in rng.normal(size=(30, 2)) * 2.0 ** rng.integers(-99, 99)
        ]
        balls += [arb(0), arb(7), arb(0, 1e-9), arb(2) ** 5000, -((arb(1) / 3) ** 900), arb.pi()]
        again = to_objects(from_objects(np.array(balls, dtype=object)))
        for one, other in zip(balls, again, strict=True):
            assert other.contains(one)
            assert other.mid() == one.mid()
            assert other.rad() <= one.rad() * 1.001


def test_integers_beyond_the_floats_are_exact() -> None:
    large = np.array([2**62 + 1, -(2**53) - 1])
    with DOMAIN.active():
        difference = DOMAIN.sub(DOMAIN.enter(large), DOMAIN.enter(large - 1))
    assert DOMAIN.leave(difference)[0].tolist() == [1.0, 1.0]


def test_what_float64_cannot_hold_is_left_without_a_bound() -> None:
    with DOMAIN.active():
        huge, lost, tiny = from_objects(np.array([arb(2) ** 2000, arb("nan"), arb(2) ** -2000]))
        for cell in (huge, lost):
            assert unpack(np.asarray(cell))[1] == np.inf
        mid, rad = unpack(np.asarray(tiny))
    assert mid == 0.0
    assert 0.0 < rad < 1e-300


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_encloses_what_any_members_give(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = hard_balls(rng, (20,)), hard_balls(rng, (3, 20))
    with DOMAIN.active():
        y = _left(getattr(DOMAIN, name)(_packed(a), _packed(b)))
    with BallDomain(BITS).active():
        for one, other in zip(members(rng, a), members(rng, b)):
            truth = BINARY[name](one, other)
            defined = np.asarray(np.frompyfunc(lambda entry: entry.is_finite(), 1, 1)(truth), bool)
            assert encloses(Ball64(y.mid[defined], y.radius()[defined]), truth[defined])


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 2)), ((2, 1, 3), (3, 3)), ((1, 30), (30, 1)), ((60, 9), (9, 70))]
)
@pytest.mark.parametrize("seed", range(12))
def test_matrix_products_enclose_what_any_members_give(shapes: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (hard_balls(rng, shape, unknown=0.02 * (seed % 2)) for shape in shapes)
    with DOMAIN.active():
        y = _left(DOMAIN.matmul(_packed(a), _packed(b)))
    exact = BallDomain(BITS)
    with exact.active():
        for one, other in zip(members(rng, a), members(rng, b)):
            assert encloses(y, exact.matmul(one, other))


@pytest.mark.parametrize("far", [[], [1e9, -1e9, np.nan]])
@pytest.mark.parametrize("name", [*sorted(UNARY), "sigmoid", "softplus", "log_sigmoid"])
def test_functions_are_those_of_the_objects(name: str, far: list[float]) -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=30), 1.0 + rng.random(30), [0.0, -1.0, 1.0, -20.0, 1e-200], far])
    objects = BallDomain(128)
    with DOMAIN.active():
        y = to_objects(getattr(DOMAIN, name)(DOMAIN.enter(x)).cells)
        for one, other in zip(y, getattr(objects, name)(objects.enter(x)), strict=True):
            assert one.is_finite() == other.is_finite()
            is_tight = one.rel_accuracy_bits() >= 90 or abs(one) < BEYOND_ALL_DTYPES
            assert not one.is_finite() or (one.overlaps(other) and is_tight)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (-1,), ()])
def test_sums_are_over_the_axes_asked_for(axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(-99, 99, (3, 5, 4)).astype(float)
    mid, rad = DOMAIN.leave(DOMAIN.sum(DOMAIN.enter(x), axes=axes))
    np.testing.assert_array_equal(mid, x.sum(axis=axes))
    assert (rad == 0.0).all()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("places", [[], [2, 0, 2, 2, -1, 2, 2], [[0, 1], [1, 1], [3, 0]], [5] * 9])
def test_what_is_scattered_is_added_where_it_belongs(places: Any, shape: tuple[int, ...]) -> None:
    indices = np.asarray(places, np.int64)
    x = np.random.default_rng(0).integers(-99, 99, (*indices.shape, *shape)).astype(float)
    expected = np.zeros((6, *shape))
    np.add.at(expected, indices, x)
    with DOMAIN.active():
        mid, rad = DOMAIN.leave(DOMAIN.scatter_add(DOMAIN.enter(x), indices, size=6))
    np.testing.assert_array_equal(mid, expected)
    assert (rad == 0.0).all()


def test_exactly_zero_absorbs_what_is_unknown() -> None:
    with DOMAIN.active():
        y = DOMAIN.mul(DOMAIN.enter(np.array([0.0, 1.0])), DOMAIN.enter(np.array([np.inf, np.nan])))
    assert DOMAIN.leave(y)[1].tolist() == [0.0, np.inf]


def test_a_zero_that_is_a_difference_is_zero() -> None:
    with DOMAIN.active():
        y = DOMAIN.matmul(DOMAIN.enter(np.ones((1, 2))), DOMAIN.enter(np.array([[0.75], [-0.75]])))
    assert DOMAIN.leave(y) == (0.0, 0.0)


def test_work_is_shared_among_threads_without_a_seam() -> None:
    x = np.random.default_rng(0).normal(size=20_001)
    with DOMAIN.active():
        one, other = DOMAIN.enter(x), DOMAIN.enter(x[::-1])
        total = words_of(DOMAIN.add(one, other).cells)
        np.testing.assert_array_equal(DOMAIN.leave(DOMAIN.sub(Packed(total.view("V48")[:, 0]), other))[0], x)


def test_complex_numbers_are_left_to_others() -> None:
    with pytest.raises(NotSupported):
        DOMAIN.enter(np.array([1j]))


def _large() -> Program:
    return program_of(lambda m, x: m.sum(m.exp(x), axes=(0,)), np.zeros(6000))


@pytest.fixture
def fresh_library() -> Iterator[None]:
    library.cache_clear()
    yield
    library.cache_clear()


def test_large_programs_are_done_in_plain_memory_and_others_with_objects() -> None:
    assert isinstance(arb_domain(_large(), 128), PackedBallDomain)
    assert isinstance(arb_domain(_large(), 256), BallDomain)
    assert isinstance(arb_domain(program_of(lambda m, x: m.exp(x), 1.0), 128), BallDomain)


@pytest.mark.usefixtures("fresh_library")
def test_a_library_of_an_unknown_version_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint, "__FLINT_VERSION__", "99.0.0")
    assert library() is None
    assert isinstance(arb_domain(_large(), 128), BallDomain)


@pytest.mark.usefixtures("fresh_library")
def test_without_the_library_objects_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint_library, "_candidates", list)
    assert library() is None
    assert isinstance(arb_domain(_large(), 128), BallDomain)


class _Late(Library):
    """A library that leaves the radius out."""

    def binary(self, name: str, y: Any, a: Any, b: Any) -> bool:
        answered = super().binary(name, y, a, b)
        y[:, 4:] = 0
        return answered


class _Swapped(Library):
    """A library with another order of the words."""

    def product(self, y: Any, a: Any, b: Any) -> None:
        super().product(y, a, b)
        y[...] = y[..., ::-1].copy()


@pytest.mark.parametrize("kind", [_Late, _Swapped])
def test_a_library_that_is_not_what_it_should_be_fails_its_test(kind: type[Library]) -> None:
    path = flint_library._candidates()[0]
    assert flint_library._works(Library(path))
    assert not flint_library._works(kind(path))


@pytest.mark.parametrize("exponent", [1, 2, 3, 7, 8, -1, -2, -3, 0, 9, 0.5])
@pytest.mark.parametrize("less", [0, 1, 2])
def test_powers_are_those_of_the_objects(exponent: float, less: int) -> None:
    """By products where the exponent is a small whole number: also of negative numbers, and of balls around zero."""
    rng = np.random.default_rng(0)
    x = hard_balls(rng, (40,))
    with DOMAIN.active():
        packed = _left(DOMAIN.power(_packed(x), DOMAIN.enter(np.asarray(exponent)), less=less))
        plain = BallDomain64().power(x, np.asarray(exponent), less=less)
    for one in members(rng, x):
        truth = np.array([entry ** (arb(exponent) - less) for entry in one], dtype=object)
        defined = np.array([entry.is_finite() for entry in truth])
        for y in (packed, plain):
            assert encloses(Ball64(y.mid[defined], y.radius()[defined]), truth[defined])

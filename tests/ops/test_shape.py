"""Ops on shapes, entry by entry against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import vjp
from gradproof.engine.run import run
from gradproof.ops import Arithmetic

from ..small import jvp
from .entries import assert_moves, draw, program, total


def test_reshape_transpose_and_broadcast_move_entries_as_numpy_does() -> None:
    x = draw(2, 3, 4)
    assert_moves("reshape", x.reshape(4, 6), x, shape=(4, 6))
    assert_moves("transpose", np.transpose(x, (2, 0, 1)), x, order=(2, 0, 1))
    assert_moves("broadcast", np.broadcast_to(x, (5, 2, 3, 4)), x, shape=(5, 2, 3, 4))


def test_sum_to_undoes_a_broadcast() -> None:
    x = draw(5, 2, 3)
    assert_moves("sum_to", x.sum(axis=(0, 2)).reshape(2, 1), x, shape=(2, 1))
    assert_moves("sum_to", x, x, shape=(5, 2, 3))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat_and_stack_join_along_any_axis(axis: int) -> None:
    parts = [draw(2, 3, 2, seed=seed) for seed in range(3)]
    assert_moves("concat", np.concatenate(parts, axis), *parts, axis=axis)
    assert_moves("stack", np.stack(parts, axis), *parts, axis=axis)


def test_tile_reverse_and_roll_are_those_of_numpy() -> None:
    x = draw(2, 3)
    assert_moves("tile", np.tile(x, (3, 2)), x, repeats=(3, 2))
    assert_moves("reverse", x[::-1, ::-1], x, axes=(0, 1))
    assert_moves("roll", np.roll(x, (1, -2), (0, 1)), x, shifts=(1, -2), axes=(0, 1))


def test_the_gradient_of_a_tile_is_the_sum_over_its_copies() -> None:
    weights = draw(4, 9, seed=1)
    source = program(lambda m, x: total(m, m.mul(m.tile(x, repeats=(2, 3)), m.literal(weights))), draw(2, 3))
    result = run(BallDomain(128), source)
    gradient = result.m.domain.leave(vjp(result, [result.m.literal(np.ones(()))])[0])[0]
    np.testing.assert_array_equal(gradient, weights.reshape(2, 2, 3, 3).sum(axis=(0, 2)))


def test_a_cast_rounds_only_where_the_domain_rounds() -> None:
    third = np.asarray([1.0 / 3.0])
    ieee, balls = Arithmetic(Ieee()), Arithmetic(BallDomain(128))
    assert ieee.cast(third, dtype="float32").dtype == np.float32
    assert float(ieee.cast(third, dtype="float16")[0]) == float(np.float16(1.0 / 3.0))
    assert balls.cast(balls.literal(third), dtype="float16")[0] == third[0]


def test_a_cast_of_integers_and_booleans_enters_the_reals_exactly() -> None:
    assert_moves("cast", [1.0, 0.0], np.asarray([True, False]), dtype="float32")
    large = Arithmetic(BallDomain(128)).cast(np.asarray([2**62 + 1]), dtype="float64")
    assert int(str(large[0].mid().man_exp()[0])) * 2 ** int(large[0].mid().man_exp()[1]) == 2**62 + 1


def test_nothing_passes_through_stop_gradient_in_either_mode() -> None:
    source = program(lambda m, x: m.mul(m.stop_gradient(x), x), np.asarray(3.0))
    result = run(BallDomain(128), source)
    one = result.m.literal(np.ones(()))
    assert vjp(result, [one])[0] == 3
    assert jvp(result, [one])[0] == 3
